#pragma once

#include <string>

namespace pstrain::testing {

/// A certificate and its key, PEM. Made by each process; P-256, valid for a day.
struct TestCertificate {
  std::string certificate;
  std::string key;
};

/// A certificate authority that nobody else trusts.
TestCertificate MakeAuthority(const std::string& common_name);

/// A certificate for servers and clients, signed by `authority`, with these subjectAltNames.
TestCertificate IssueCertificate(const TestCertificate& authority, const std::string& common_name,
                                 const std::string& names = "IP:127.0.0.1,DNS:localhost");

}  // namespace pstrain::testing
