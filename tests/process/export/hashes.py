"""The hashes of texts and crosses, for tests that feed ids: farmhash's Fingerprint64 of texts up to 64
bytes, and the FingerprintCat64 of TensorFlow's crosses."""
import json

MASK = (1 << 64) - 1
K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
CAT = 0xC6A4A7935BD1E995
SEED = 0xDECAFCAFFE


def rotate(value, shift):
    value &= MASK
    return (value >> shift | value << (64 - shift)) & MASK


def shift_mix(value):
    value &= MASK
    return value ^ value >> 47


def mix(u, v, multiplier):
    a = shift_mix((u ^ v) * multiplier)
    return shift_mix((v ^ a) * multiplier & MASK) * multiplier & MASK


def up_to_16(text):
    size = len(text)
    multiplier = K2 + size * 2
    if size >= 8:
        a = int.from_bytes(text[:8], "little") + K2 & MASK
        b = int.from_bytes(text[-8:], "little")
        return mix(rotate(b, 37) * multiplier + a & MASK, (rotate(a, 25) + b) * multiplier & MASK,
                   multiplier)
    if size >= 4:
        a, b = (int.from_bytes(part, "little") for part in (text[:4], text[-4:]))
        return mix(size + (a << 3), b, multiplier)
    if size > 0:
        y = text[0] + (text[size >> 1] << 8)
        z = size + (text[-1] << 2)
        return shift_mix(y * K2 & MASK ^ z * K0 & MASK) * K2 & MASK
    return K2


def fingerprint(text):
    """Fingerprint64 of bytes."""
    size = len(text)
    if size <= 16:
        return up_to_16(text)
    assert size <= 64, "longer texts are hashed in another way"

    def at(position):
        return int.from_bytes(text[position:position + 8], "little")

    multiplier = K2 + size * 2
    a, b = at(0) * (K1 if size <= 32 else K2) & MASK, at(8)
    c, d = at(size - 8) * multiplier & MASK, at(size - 16) * K2 & MASK
    y = rotate(a + b, 43) + rotate(c, 30) + d & MASK
    z = a + rotate(b + K2, 18) + c & MASK
    if size <= 32:
        return mix(y, z, multiplier)
    z = mix(y, z, multiplier)
    e, f = at(16) * multiplier & MASK, at(24)
    g = (y + at(size - 32)) * multiplier & MASK
    h = (z + at(size - 24)) * multiplier & MASK
    return mix(rotate(e + f, 43) + rotate(g, 30) + h & MASK, e + rotate(f + a, 18) + g & MASK,
               multiplier)


def cross(parts):
    """Of fingerprints and ids."""
    chain = SEED
    for part in parts:
        mixed = (chain ^ CAT ^ shift_mix(part * CAT) * CAT & MASK) * CAT & MASK
        chain = shift_mix(shift_mix(mixed) * CAT)
    return chain


def check(path):
    """Against TensorFlow's results."""
    with open(path, encoding="utf-8") as file:
        golden = json.load(file)
    texts = [entry for entry in golden["strings"] if len(entry["s"].encode()) <= 64]
    assert len(texts) > 10, len(texts)
    for entry in texts:
        assert fingerprint(entry["s"].encode()) == int(entry["u64"]), entry
    crossed = 0
    for golden_cross in golden["cross"]:
        wanted = golden_cross["sparse_cross_hashed"]
        for text, number, [bucket] in zip(golden_cross["a"], golden_cross["b"], wanted):
            if len(text.encode()) > 64:
                continue
            found = cross([fingerprint(text.encode()), int(number)]) % int(golden_cross["num_buckets"])
            assert found == bucket, (text, number)
            crossed += 1
    assert crossed > 10, crossed
