#pragma once

#include <pstrain/iterator.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "library/data/data_node.h"
#include "proto/contract/mark.pb.h"

namespace pstrain::program {

/// The elements of a per-worker dataset that one call is given, as its payload carries them. A
/// value.
struct ElementBinding {
  /// Name of the dataset function.
  std::string dataset;
  /// What its InputContext says: workers, and which of the pipelines.
  std::uint32_t workers = 1;
  std::uint32_t pipeline = 0;
  std::uint64_t pass = 0;
  /// Elements [first, first + count) of the pipeline, of which there are `size`, where it is known.
  std::uint64_t first = 0;
  std::uint32_t count = 1;
  std::optional<std::uint64_t> size = std::nullopt;
  friend bool operator==(const ElementBinding&, const ElementBinding&) = default;
};

/// Where a worker gets elements of pipelines. Any thread.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  /// As DataNode::Get, of the pipeline that the binding names.
  virtual Result<std::optional<Element>> Get(const ElementBinding& binding,
                                             std::uint64_t index) = 0;
};

/// What is behind an Iterator. Any thread.
class IteratorState {
 public:
  virtual ~IteratorState() = default;
  /// As Iterator::Next.
  virtual Result<Element> Next() = 0;
  /// What a call was given; nothing where it is no iterator of a call.
  virtual std::optional<ElementBinding> binding() const { return std::nullopt; }
  /// Takes the next elements for a call. OUT_OF_RANGE: there are none. INVALID_ARGUMENT: the
  /// iterator is no argument of calls.
  virtual Result<ElementBinding> Bind();
  /// Where it stands, but for its name. REQUIRES: it is one that Bind takes elements of.
  virtual IteratorPosition Position() const { return {}; }
  /// Gives back what was taken last.
  virtual void Unbind(const ElementBinding&) {}
};

/// The way from the class of the public headers to what is behind it. Any thread.
struct IteratorAccess {
  static Iterator Make(std::shared_ptr<IteratorState> state) { return Iterator(std::move(state)); }
  static IteratorState& StateOf(const Iterator& iterator) { return *iterator.state_; }
};

/// An iterator of a call. `source` outlives it; with null it can be sent, and not read.
Iterator BoundTo(ElementBinding binding, ElementSource* source);
/// Reads a dataset from its first element on.
Iterator ReadingOf(DataNodePtr dataset);

}  // namespace pstrain::program
