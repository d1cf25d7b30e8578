#pragma once

#include <pstrain/distributed_values.h>
#include <pstrain/remote_value.h>
#include <pstrain/values.h>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

/// What ClusterCoordinator::Fetch makes of a structure. Pure; any thread.
namespace pstrain::fetch_internal {

/// The values of a structure, in its order; each is taken once.
using Next = std::vector<Values>::iterator;

/// A T stays as it is: tf.nest's leaves that are no RemoteValue.
template <typename T>
struct Fetched {
  using Type = T;
  static void Collect(const T&, std::vector<RemoteValue>*) {}
  static T Fill(const T& leaf, Next&) { return leaf; }
};

template <>
struct Fetched<RemoteValue> {
  using Type = Values;
  static void Collect(const RemoteValue& value, std::vector<RemoteValue>* all) {
    all->push_back(value);
  }
  static Values Fill(const RemoteValue&, Next& next) { return std::move(*next++); }
};

/// A structure whose elements are all of one type, in an order.
template <typename T, typename FetchedList>
struct FetchedElements {
  using Type = FetchedList;
  template <typename List>
  static void Collect(const List& list, std::vector<RemoteValue>* all) {
    for (const T& element : list) Fetched<T>::Collect(element, all);
  }
  template <typename List>
  static Type Fill(const List& list, Next& next) {
    std::vector<typename Fetched<T>::Type> elements;
    for (const T& element : list) elements.push_back(Fetched<T>::Fill(element, next));
    return Type(std::move(elements));
  }
};
template <typename T>
struct Fetched<std::vector<T>> : FetchedElements<T, std::vector<typename Fetched<T>::Type>> {};
template <typename T>
struct Fetched<PerWorker<T>> : FetchedElements<T, PerWorker<typename Fetched<T>::Type>> {};
template <typename T>
struct Fetched<PerReplica<T>> : FetchedElements<T, PerReplica<typename Fetched<T>::Type>> {};

template <typename Key, typename T>
struct Fetched<std::map<Key, T>> {
  using Type = std::map<Key, typename Fetched<T>::Type>;
  static void Collect(const std::map<Key, T>& map, std::vector<RemoteValue>* all) {
    for (const auto& [key, element] : map) Fetched<T>::Collect(element, all);
  }
  static Type Fill(const std::map<Key, T>& map, Next& next) {
    Type filled;
    for (const auto& [key, element] : map) {
      filled.emplace(key, Fetched<T>::Fill(element, next));
    }
    return filled;
  }
};

template <typename... T>
struct Fetched<std::tuple<T...>> {
  using Type = std::tuple<typename Fetched<T>::Type...>;
  static void Collect(const std::tuple<T...>& tuple, std::vector<RemoteValue>* all) {
    std::apply([all](const T&... element) { (Fetched<T>::Collect(element, all), ...); }, tuple);
  }
  static Type Fill(const std::tuple<T...>& tuple, Next& next) {
    // Braces: from the left to the right.
    return std::apply(
        [&next](const T&... element) { return Type{Fetched<T>::Fill(element, next)...}; }, tuple);
  }
};

template <typename A, typename B>
struct Fetched<std::pair<A, B>> {
  using Type = std::pair<typename Fetched<A>::Type, typename Fetched<B>::Type>;
  static void Collect(const std::pair<A, B>& pair, std::vector<RemoteValue>* all) {
    Fetched<A>::Collect(pair.first, all);
    Fetched<B>::Collect(pair.second, all);
  }
  static Type Fill(const std::pair<A, B>& pair, Next& next) {
    return Type{Fetched<A>::Fill(pair.first, next), Fetched<B>::Fill(pair.second, next)};
  }
};

}  // namespace pstrain::fetch_internal
