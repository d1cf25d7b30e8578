#include "base/metrics/http_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/os/unique_fd.h"

namespace pstrain {
namespace {

constexpr std::size_t kLongestHead = 8192;
constexpr int kBacklog = 128;
/// How long nothing is accepted when the process has no descriptor left.
constexpr std::chrono::milliseconds kNoDescriptorPause{100};

std::string_view ReasonPhrase(int status) {
  constexpr std::array<std::pair<int, std::string_view>, 9> kPhrases = {{
      {200, "OK"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
  }};
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return "Other";
}

HttpResponse PlainAnswer(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body) + "\n";
  return response;
}

std::string Encode(const HttpResponse& response, bool head_only) {
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " ";
  text += ReasonPhrase(response.status);
  text += "\r\nContent-Type: " + response.content_type;
  text += "\r\nContent-Length: " + std::to_string(response.body.size());
  text += "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
  if (!head_only) text += response.body;
  return text;
}

Result<UniqueFd> Listen(const std::string& address, std::uint16_t& port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &name.sin_addr) != 1) {
    return InvalidArgumentError("\"" + address + "\" is no IPv4 address");
  }
  sockaddr generic{};
  std::memcpy(&generic, &name, sizeof(name));
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return ErrnoError(errno, "socket");
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(socket.get(), &generic, sizeof(generic)) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    if (errno == EADDRINUSE) {
      return AlreadyExistsError("the port is in use; end the process that has it, or take another");
    }
    return ErrnoError(errno, "bind");
  }
  socklen_t length = sizeof(generic);
  if (::getsockname(socket.get(), &generic, &length) != 0) return ErrnoError(errno, "getsockname");
  std::memcpy(&name, &generic, sizeof(name));
  port = ntohs(name.sin_port);
  return socket;
}

/// What a connection does: receives its head, waits for its answer, sends it, and then takes what
/// still comes until the client has closed, so that the system does not reset the answer away.
enum class Stage : std::uint8_t { kReceiving, kAnswering, kSending, kClosing };

struct Connection {
  UniqueFd socket;
  SteadyTime deadline;
  Stage stage = Stage::kReceiving;
  bool head_only = false;
  std::string received;
  std::string answer;
  std::size_t sent = 0;
};

struct Question {
  std::uint64_t id = 0;
  HttpRequest request;
};

struct Reply {
  std::uint64_t id = 0;
  HttpResponse response;
};

/// Resets the connection when it is closed: what the client has not taken must not stay in memory.
void Cut(const Connection& connection) {
  const linger none{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(connection.socket.get(), SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const Options& options, UniqueFd listener, UniqueFd wake, Answer answer, Urgent urgent)
      : options_(options),
        listener_(std::move(listener)),
        wake_(std::move(wake)),
        answer_(std::move(answer)),
        urgent_(std::move(urgent)),
        urgent_questions_(options.max_connections),
        questions_(options.max_connections) {
    threads_.emplace_back([this] { Work(urgent_questions_); });
    for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { Work(questions_); });
    threads_.emplace_back([this] { Loop(); });
  }

  ~Impl() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
    }
    Wake();
    urgent_questions_.Stop();
    questions_.Stop();
    for (std::thread& thread : threads_) thread.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

 private:
  void Wake() const {
    const std::uint64_t one = 1;
    // A full counter wakes as well.
    static_cast<void>(::write(wake_.get(), &one, sizeof(one)));
  }

  void Work(BoundedQueue<Question>& questions) {
    while (std::optional<Question> question = questions.Pop()) {
      Reply reply{.id = question->id, .response = answer_(question->request)};
      {
        const MutexLock lock(mutex_);
        replies_.push_back(std::move(reply));
      }
      Wake();
    }
  }

  void Loop() {
    while (TakeReplies()) {
      const std::vector<pollfd> ready = Wait();
      // In the order of Wait: the two fixed ones, then the connections.
      auto polled = ready.begin();
      if ((polled++)->revents != 0) ClearWake();
      const bool incoming = (polled++)->revents != 0;
      for (auto next = connections_.begin(); next != connections_.end(); ++polled) {
        const auto entry = next++;
        const bool over = SteadyNow() >= entry->second.deadline;
        if (over) Cut(entry->second);
        if (over || (polled->revents != 0 && !Serve(entry->first, entry->second))) {
          connections_.erase(entry);
        }
      }
      if (incoming) AcceptAll();
    }
  }

  /// Waits for anything to happen; the next deadline is that of the oldest connection.
  std::vector<pollfd> Wait() {
    const bool accepts = SteadyNow() >= accept_after_;
    std::vector<pollfd> polled = {
        {.fd = wake_.get(), .events = POLLIN, .revents = 0},
        {.fd = accepts ? listener_.get() : -1, .events = POLLIN, .revents = 0}};
    SteadyTime until = accepts ? SteadyTime::max() : accept_after_;
    for (const auto& [id, connection] : connections_) {
      until = std::min(until, connection.deadline);
      pollfd entry{.fd = connection.socket.get(), .events = POLLIN, .revents = 0};
      if (connection.stage == Stage::kSending) entry.events = POLLOUT;
      // Nothing is read meanwhile: what the client sends waits in the system, whose room is
      // bounded.
      if (connection.stage == Stage::kAnswering) entry.fd = -1;
      polled.push_back(entry);
    }
    int timeout = -1;
    if (until != SteadyTime::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyNow());
      timeout = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    }
    if (::poll(polled.data(), polled.size(), timeout) < 0) {
      for (pollfd& entry : polled) entry.revents = 0;
    }
    return polled;
  }

  void ClearWake() const {
    std::uint64_t count = 0;
    static_cast<void>(::read(wake_.get(), &count, sizeof(count)));
  }

  /// False when the server ends.
  bool TakeReplies() {
    std::vector<Reply> replies;
    {
      const MutexLock lock(mutex_);
      if (stopping_) return false;
      replies.swap(replies_);
    }
    for (const Reply& reply : replies) {
      const auto found = connections_.find(reply.id);
      if (found == connections_.end()) continue;  // its time was up
      BeginSending(reply.response, found->second);
      if (!Send(found->second)) connections_.erase(found);
    }
    return true;
  }

  void AcceptAll() {
    while (true) {
      UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.valid()) {
        if (errno == ECONNABORTED || errno == EINTR) continue;
        if (WouldBlock(errno)) return;
        // No descriptor or no memory: one place may become free.
        CutOldest();
        accept_after_ = SteadyNow() + kNoDescriptorPause;
        return;
      }
      if (connections_.size() >= options_.max_connections) CutOldest();
      Connection& added = connections_[next_id_++];
      added.socket = std::move(socket);
      added.deadline = SteadyNow() + options_.deadline;
    }
  }

  void CutOldest() {
    if (connections_.empty()) return;
    Cut(connections_.begin()->second);
    connections_.erase(connections_.begin());
  }

  /// False when the connection is over.
  bool Serve(std::uint64_t id, Connection& connection) {
    switch (connection.stage) {
      case Stage::kReceiving:
        return Receive(id, connection);
      case Stage::kSending:
        return Send(connection);
      case Stage::kClosing:
        return Discard(connection);
      case Stage::kAnswering:
        break;
    }
    return true;
  }

  bool Receive(std::uint64_t id, Connection& connection) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
    if (got == 0) return false;
    if (got < 0) return WouldBlock(errno);
    connection.received.append(buffer.data(), static_cast<std::size_t>(got));
    const std::optional<std::size_t> end = EndOfHttpHead(connection.received);
    if (!end && connection.received.size() <= kLongestHead) return true;
    if (!end || *end > kLongestHead) {
      BeginSending(PlainAnswer(431, "the head of a request has at most 8192 bytes"), connection);
      return Send(connection);
    }
    return Ask(id, std::string_view(connection.received).substr(0, *end), connection);
  }

  bool Ask(std::uint64_t id, std::string_view head, Connection& connection) {
    Result<HttpRequest> request = ParseHttpRequest(head);
    if (!request.ok()) {
      BeginSending(PlainAnswer(400, request.status().message()), connection);
      return Send(connection);
    }
    connection.head_only = request->method == "HEAD";
    connection.stage = Stage::kAnswering;
    BoundedQueue<Question>& queue = urgent_(*request) ? urgent_questions_ : questions_;
    Question question{.id = id, .request = std::move(*request)};
    if (queue.TryPush(question)) return true;
    BeginSending(PlainAnswer(503, "too many requests wait for their answer"), connection);
    return Send(connection);
  }

  static void BeginSending(const HttpResponse& response, Connection& connection) {
    connection.answer = Encode(response, connection.head_only);
    connection.stage = Stage::kSending;
    connection.received.clear();
  }

  static bool Send(Connection& connection) {
    while (connection.sent < connection.answer.size()) {
      const ssize_t sent =
          ::send(connection.socket.get(), connection.answer.data() + connection.sent,
                 connection.answer.size() - connection.sent, MSG_NOSIGNAL);
      if (sent < 0) return WouldBlock(errno);
      connection.sent += static_cast<std::size_t>(sent);
    }
    ::shutdown(connection.socket.get(), SHUT_WR);
    connection.stage = Stage::kClosing;
    return true;
  }

  static bool Discard(Connection& connection) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
    return got > 0 || (got < 0 && WouldBlock(errno));
  }

  const Options options_;
  const UniqueFd listener_;
  const UniqueFd wake_;
  const Answer answer_;
  const Urgent urgent_;
  BoundedQueue<Question> urgent_questions_;
  BoundedQueue<Question> questions_;
  Mutex mutex_;
  std::vector<Reply> replies_ PSTRAIN_GUARDED_BY(mutex_);
  bool stopping_ PSTRAIN_GUARDED_BY(mutex_) = false;
  // Of the loop's thread alone. Oldest first: ids grow.
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_id_ = 0;
  SteadyTime accept_after_;
  std::vector<std::thread> threads_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const Options& options, Answer answer,
                                                      Urgent urgent) {
  std::uint16_t port = options.port;
  PSTRAIN_ASSIGN_OR_RETURN(UniqueFd listener, Listen(options.address, port));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return ErrnoError(errno, "eventfd");
  auto impl = std::make_unique<Impl>(options, std::move(listener), std::move(wake),
                                     std::move(answer), std::move(urgent));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl), port));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl, std::uint16_t port)
    : impl_(std::move(impl)), port_(port) {}

HttpServer::~HttpServer() = default;

}  // namespace pstrain
