#!/bin/sh
# A user's own program: prints what it was told, and fails twice where it is the chief.
echo "TF_CONFIG=$TF_CONFIG"
if [ "$PSTRAIN_REPLICA_TYPE" = chief ] && [ "$PSTRAIN_ATTEMPT" -lt 2 ]; then
  echo "attempt $PSTRAIN_ATTEMPT fails on purpose" >&2
  exit 1
fi
