#!/usr/bin/env python3
"""clocks_and_mutexes_detects.py ROOT: clocks_and_mutexes.py accepts a clean tree and refuses each
kind of violation."""
from detects import Trees

CLEAN = {
    "base/mutex.h": "#include <mutex>\nstd::mutex mutex_;\nstd::condition_variable condition_;\n",
    "base/clock.cc": "auto Now() { return std::chrono::steady_clock::now(); }\n",
    "agent/a.cc": "// std::mutex is not used\nauto t = clock.Now();\n"
                  "const char* s = \"steady_clock::now()\";\n"
                  "std::chrono::steady_clock::time_point deadline;\nint time(int x);\n",
    "tests/a_test.cc": "const SteadyTime t = SteadyNow();\nMutex m;\n",
    "tests/runtime/simulation/posix_calls.cc": "int r = pthread_mutex_lock(&mutex);\n",
    "bench/a.cc": "auto t = std::chrono::steady_clock::now();\nstd::mutex m;\n",
}

trees = Trees("clocks_and_mutexes.py")
trees.accepts(CLEAN)
for path, line in [
        ("base/log.h", "std::mutex mutex_;"),
        ("runtime/worker/a.h", "#include <condition_variable>"),
        ("runtime/worker/a.h", "mutable std::condition_variable_any changed_;"),
        ("operator/kube/a.cc", "static std::once_flag once;"),
        ("local/a.cc", "const std::lock_guard lock(mutex_);"),
        ("local/a.cc", "std::shared_timed_mutex mutex_;"),
        ("agent/b.cc", "pthread_mutex_lock(&mutex);"),
        ("agent/b.cc", "auto t = std::chrono::steady_clock::now();"),
        ("cli/b.cc", "using Clock = std::chrono::steady_clock;"),
        ("cli/b.cc", "auto t = Clock::now();"),
        ("runtime/chief/b.cc", "auto t = std::chrono::system_clock::now();"),
        ("proto/job/b.cc", "const auto t = ::time(nullptr);"),
        ("proto/job/b.cc", "const auto t = std::time(nullptr);"),
        ("crds/b.cc", "clock_gettime(CLOCK_REALTIME, &spec);"),
        ("crds/b.cc", "gettimeofday(&now, nullptr);"),
        ("tests/base/b_test.cc", "auto t = std::chrono::steady_clock::now();"),
        ("tests/base/b.h", "std::mutex mutex_;"),
]:
    trees.refuses(f"{path}:2:", {**CLEAN, path: "\n" + line + "\n"})
trees.refuses("0 sources", {"README.md": "no sources at all\n"})
trees.finish()
