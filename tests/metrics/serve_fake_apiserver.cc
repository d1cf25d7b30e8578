// serve_fake_apiserver FILE: an apiserver without TLS that has the PSTrainingJob in FILE, as JSON.
// Prints its port; ends when stdin does.

#include <iostream>
#include <string>

#include "base/os/files.h"
#include "base/text/json.h"
#include "operator/job/observe/job_view.h"
#include "tests/testing/fake_apiserver.h"
#include "tests/testing/fake_apiserver_http.h"
#include "tests/testing/tls_http_server.h"

int main(int argc, char** argv) {
  const auto text = pstrain::ReadFile(argc == 2 ? argv[1] : "");
  auto job = text.ok() ? pstrain::ParseJson(*text) : pstrain::Result<pstrain::Json>(text.status());
  if (!job.ok()) {
    std::cerr << job.status().message() << "\n";
    return 2;
  }
  pstrain::testing::FakeApiserver api;
  api.Put(pstrain::job::JobResource(), std::move(job).value());
  const pstrain::testing::TlsHttpServer server({}, pstrain::testing::ServeApi(api));
  std::cout << server.port() << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) continue;
  return 0;
}
