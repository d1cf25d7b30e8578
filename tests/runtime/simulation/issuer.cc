#include "tests/runtime/simulation/issuer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "proto/contract/roles.h"
#include "runtime/rpc/identity/token_verifier.h"
#include "tests/runtime/simulation/simulated_clock.h"

namespace pstrain::simulation {
namespace {

constexpr char kIssuer[] = "https://cluster";
constexpr char kNamespace[] = "n";
constexpr char kUid[] = "uid-1";
/// From its issue a token is good for kLifetime, for receivers whose clock is that much ahead of
/// the issuer's: of the leeway of 60 s five are left.
constexpr std::chrono::seconds kLifetime{20};
constexpr std::chrono::seconds kClockAhead{55};

}  // namespace

Issuer::Issuer(Scheduler& scheduler, std::string directory, std::string job_name)
    : scheduler_(scheduler),
      directory_(std::move(directory)),
      job_name_(std::move(job_name)),
      key_(identity_test::SigningKey::Ec("key-1")) {
  std::filesystem::create_directories(directory_);
  std::ofstream(directory_ + "/jwks") << R"({"keys":[)" << key_.Jwk() << "]}";
}

IdentitySettings Issuer::SettingsFor(const Caller& pod, const Caller& said) {
  const std::string folder =
      directory_ + "/" + PodNameOf(job_name_, pod) + "-as-" + PodNameOf(job_name_, said);
  std::filesystem::create_directories(folder);
  WriteTokens(folder, pod);
  Renew(folder, pod);
  return {.tokens = folder,
          .jwks = directory_ + "/jwks",
          .issuer = kIssuer,
          .name_space = kNamespace,
          .job_name = job_name_,
          .job_uid = kUid,
          .self = said};
}

void Issuer::Renew(const std::string& folder, const Caller& pod) {
  const Time due = std::max<Time>(scheduler_.now() + kLifetime * 4 / 5, silent_until_);
  scheduler_.At(due, [this, folder, pod] {
    if (scheduler_.now() >= silent_until_) WriteTokens(folder, pod);
    Renew(folder, pod);
  });
}

void Issuer::WriteTokens(const std::string& folder, const Caller& pod) const {
  identity_test::Claims claims;
  claims.issuer = kIssuer;
  claims.expires = WallSeconds(scheduler_.now()) + (kLifetime - kClockAhead).count();
  claims.name_space = kNamespace;
  claims.pod = PodNameOf(job_name_, pod);
  claims.uid = "uid-of-" + claims.pod;
  for (const Audience audience : {Audience::kChief, Audience::kPs}) {
    claims.audience = AudienceText(audience, kUid);
    std::ofstream(folder + "/" + std::string(RoleName(RoleOf(audience))), std::ios::trunc)
        << key_.Token(claims.Text());
  }
}

}  // namespace pstrain::simulation
