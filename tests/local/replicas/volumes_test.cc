#include "local/replicas/volumes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/os/files.h"

namespace pstrain::local {
namespace {

using testing::HasSubstr;

class VolumesTest : public testing::Test {
 protected:
  VolumesTest() {
    templates_[plan::Role::kChief].mounts = {{"/data", "data"}, {"/checkpoints", "work/run"}};
    templates_[plan::Role::kWorker].mounts = {{"/data", "data"}};
  }
  Result<Volumes> Map(const std::map<std::string, std::string>& given = {}) const {
    return Volumes::Create(templates_, given, dir_.File("volumes"));
  }

  TempDir dir_;
  std::map<plan::Role, PodTemplate> templates_;
};

TEST_F(VolumesTest, WhereNoneIsGiven_AFolderOfTheStateStandsForIt) {
  const Result<Volumes> volumes = Map({{"work", dir_.File("w")}});
  ASSERT_TRUE(volumes.ok()) << volumes.status().ToString();
  EXPECT_EQ(volumes->mounts(),
            (PathMap{{"/data", dir_.File("volumes/data")}, {"/checkpoints", dir_.File("w/run")}}));
  EXPECT_FALSE(FileExists(dir_.File("volumes")));
}

TEST_F(VolumesTest, WhyAbsent_NamesTheVolumeAndThePathAsItIsWritten) {
  const std::string path = dir_.File("volumes/data/x.csv");
  Result<Volumes> volumes = Map();
  ASSERT_TRUE(volumes.ok());
  EXPECT_EQ(volumes->WhyAbsent(path),
            "input /data/x.csv lies on volume \"data\", which is empty here; give --volume "
            "data=DIR");
  EXPECT_EQ(volumes->WhyAbsent("/elsewhere/x.csv"), "");
  ASSERT_TRUE(CreateDirectories(dir_.File("volumes/data")).ok());
  ASSERT_TRUE(WriteFileSynced(dir_.File("volumes/data/y.csv"), "y").ok());
  EXPECT_THAT(volumes->WhyAbsent(path), HasSubstr("does not have it; put it there, or give"));
  volumes = Map({{"data", dir_.File("volumes/data")}});
  ASSERT_TRUE(volumes.ok());
  EXPECT_EQ(volumes->WhyAbsent(path), "input /data/x.csv lies on volume \"data\", here " +
                                          dir_.File("volumes/data") + ", which does not have it");
}

TEST_F(VolumesTest, WhatCannotBeMapped_IsNamed) {
  EXPECT_THAT(Map({{"dat", "."}}).status().message(),
              HasSubstr("--volume dat: no replica mounts it; they mount data, work"));
  templates_[plan::Role::kWorker].mounts = {{"/data", "other"}};
  EXPECT_THAT(Map().status().message(), HasSubstr("mountPath /data is used by two volumes"));
}

}  // namespace
}  // namespace pstrain::local
