// Not Eigen's products: those of its version 3.4 lose half of AVX-512 where rows are no multiple of
// a cache line. Nothing here may become an inline function that another file has too: the linker
// keeps one copy of those, and this one runs on few processors. Hence no std:: in the loops.
#include <immintrin.h>

#include <cstddef>
#include <new>
#include <utility>

#include "runtime/model/layers/dense_kernels.h"

namespace pstrain {
namespace {

/// A tile of the result that fits the 32 registers: 14 rows of two vectors, beside two vectors of b
/// and one of an element of a (Goto and van de Geijn 2008, Anatomy of High-Performance Matrix
/// Multiplication).
constexpr std::size_t kRows = 14;
constexpr std::size_t kLanes = 16;
constexpr std::size_t kColumns = 2 * kLanes;
/// Terms that are summed before the next tile: the 32 KiB of b that they take stay in the first
/// cache while all rows of a pass by.
constexpr std::size_t kMostTerms = 256;
/// Columns of b that lie packed in the second cache: 512 KiB.
constexpr std::size_t kMostColumns = 512;

/// One factor: element [row, column] is at data[row * row_step + column * column_step], and one of
/// the steps is 1.
struct Factor {
  const float* data;
  std::size_t row_step;
  std::size_t column_step;

  const float* At(std::size_t row, std::size_t column) const {
    return data + row * row_step + column * column_step;
  }
};

/// Memory for packed factors. One call's.
class Room {
 public:
  explicit Room(std::size_t floats)
      : floats_(static_cast<float*>(::operator new(floats * sizeof(float), kLine))) {}
  ~Room() { ::operator delete(floats_, kLine); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  float* data() { return floats_; }

 private:
  static constexpr std::align_val_t kLine{64};
  float* const floats_;
};

constexpr std::size_t Least(std::size_t a, std::size_t b) { return a < b ? a : b; }
constexpr std::size_t QuotientUp(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// The first `count` lanes.
__mmask16 FirstLanes(std::size_t count) {
  return count >= kLanes ? __mmask16{0xffff} : static_cast<__mmask16>((1U << count) - 1U);
}

/// `terms` rows of a panel of b, kColumns each; what it lacks of them is 0.
void PackColumns(const Factor& b, std::size_t terms, std::size_t columns, float* to) {
  if (b.column_step == 1) {
    const __mmask16 left = FirstLanes(columns);
    const __mmask16 right = FirstLanes(columns > kLanes ? columns - kLanes : 0);
    for (std::size_t p = 0; p < terms; ++p) {
      const float* const from = b.At(p, 0);
      _mm512_store_ps(to + p * kColumns, _mm512_maskz_loadu_ps(left, from));
      _mm512_store_ps(to + p * kColumns + kLanes, _mm512_maskz_loadu_ps(right, from + kLanes));
    }
    return;
  }
  for (std::size_t j = 0; j < columns; ++j) {
    const float* const from = b.At(0, j);
    for (std::size_t p = 0; p < terms; ++p) to[p * kColumns + j] = from[p];
  }
  for (std::size_t j = columns; j < kColumns; ++j) {
    for (std::size_t p = 0; p < terms; ++p) to[p * kColumns + j] = 0;
  }
}

/// `terms` columns of a panel of a whose rows have step 1, kRows each; what it lacks of them is 0.
void PackRows(const Factor& a, std::size_t terms, std::size_t rows, float* to) {
  const __mmask16 mask = FirstLanes(rows);
  for (std::size_t p = 0; p < terms; ++p) {
    _mm512_mask_storeu_ps(to + p * kRows, FirstLanes(kRows),
                          _mm512_maskz_loadu_ps(mask, a.At(0, p)));
  }
}

/// A tile of the result, and the panels that it is the product of.
struct Tile {
  std::size_t terms;
  const float* a;
  std::size_t a_row_step;
  const float* b;
  float* c;
  std::size_t c_row_step;
  std::size_t columns;
  /// To what is there: these are not the first terms.
  bool add;
};

/// kPacked: a is of PackRows; else its rows are where they were, with columns of step 1.
template <std::size_t kTileRows, std::size_t kVectors, bool kPacked>
void Multiply(const Tile& tile) {
  __m512 sums[kTileRows][kVectors];
  for (auto& row : sums) {
    for (__m512& sum : row) sum = _mm512_setzero_ps();
  }
  const float* a = tile.a;
  const float* b = tile.b;
  const std::size_t step = kPacked ? 1 : tile.a_row_step;
  for (std::size_t p = 0; p < tile.terms; ++p) {
    __m512 factors[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) factors[v] = _mm512_load_ps(b + v * kLanes);
    for (std::size_t row = 0; row < kTileRows; ++row) {
      const __m512 element = _mm512_set1_ps(a[row * step]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[row][v] = _mm512_fmadd_ps(element, factors[v], sums[row][v]);
      }
    }
    a += kPacked ? kRows : 1;
    b += kColumns;
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    const __mmask16 mask = FirstLanes(tile.columns - v * kLanes);
    for (std::size_t row = 0; row < kTileRows; ++row) {
      float* const to = tile.c + row * tile.c_row_step + v * kLanes;
      __m512 sum = sums[row][v];
      if (tile.add) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, to));
      _mm512_mask_storeu_ps(to, mask, sum);
    }
  }
}

using MultiplyTile = void (*)(const Tile&);

/// By rows - 1.
template <std::size_t kVectors, bool kPacked>
struct OfRows {
  template <std::size_t... kRow>
  static void Run(std::size_t rows, const Tile& tile, std::index_sequence<kRow...>) {
    static constexpr MultiplyTile kByRows[] = {&Multiply<kRow + 1, kVectors, kPacked>...};
    kByRows[rows - 1](tile);
  }
};

template <bool kPacked>
void MultiplyRows(std::size_t rows, const Tile& tile) {
  constexpr std::make_index_sequence<kRows> kEach;
  if (tile.columns > kLanes) return OfRows<2, kPacked>::Run(rows, tile, kEach);
  OfRows<1, kPacked>::Run(rows, tile, kEach);
}

/// The first `terms` rows and `columns` columns of b, panel after panel.
void PackAll(const Factor& b, std::size_t terms, std::size_t columns, float* to) {
  for (std::size_t j = 0; j < columns; j += kColumns) {
    PackColumns({b.At(0, j), b.row_step, b.column_step}, terms, Least(kColumns, columns - j),
                to + j * terms);
  }
}

/// Adds the product of `rows` x `terms` of a and the packed terms x columns of b to c.
void MultiplyBlock(std::size_t rows, std::size_t terms, std::size_t columns, const Factor& a,
                   const float* packed_b, float* packed_a, float* c, std::size_t c_row_step,
                   bool add) {
  const bool pack = a.column_step != 1;
  if (pack) {
    for (std::size_t i = 0; i < rows; i += kRows) {
      PackRows({a.At(i, 0), a.row_step, a.column_step}, terms, Least(kRows, rows - i),
               packed_a + i * terms);
    }
  }
  for (std::size_t j = 0; j < columns; j += kColumns) {
    Tile tile{terms,
              nullptr,
              a.row_step,
              packed_b + j * terms,
              nullptr,
              c_row_step,
              Least(kColumns, columns - j),
              add};
    for (std::size_t i = 0; i < rows; i += kRows) {
      tile.c = c + i * c_row_step + j;
      tile.a = pack ? packed_a + i * terms : a.At(i, 0);
      const std::size_t of_tile = Least(kRows, rows - i);
      if (pack) {
        MultiplyRows<true>(of_tile, tile);
      } else {
        MultiplyRows<false>(of_tile, tile);
      }
    }
  }
}

/// c[rows, columns] = a[rows, terms] * b[terms, columns]
void MultiplyFactors(std::size_t rows, std::size_t terms, std::size_t columns, const Factor& a,
                     const Factor& b, float* c) {
  if (terms == 0) {
    for (std::size_t i = 0; i < rows * columns; ++i) c[i] = 0;
    return;
  }
  // Blocks of equal size, not whole ones and a short rest.
  const std::size_t block = QuotientUp(terms, QuotientUp(terms, kMostTerms));
  Room packed_b(block * QuotientUp(Least(columns, kMostColumns), kColumns) * kColumns);
  Room packed_a(a.column_step == 1 ? 1 : block * QuotientUp(rows, kRows) * kRows);
  for (std::size_t j = 0; j < columns; j += kMostColumns) {
    const std::size_t width = Least(kMostColumns, columns - j);
    for (std::size_t p = 0; p < terms; p += block) {
      const std::size_t depth = Least(block, terms - p);
      PackAll({b.At(p, j), b.row_step, b.column_step}, depth, width, packed_b.data());
      MultiplyBlock(rows, depth, width, {a.At(0, p), a.row_step, a.column_step}, packed_b.data(),
                    packed_a.data(), c + j, columns, p > 0);
    }
  }
}

/// c[rows, columns] = a[rows] * b[columns]^T
void MultiplyVectors(std::size_t rows, std::size_t columns, const float* a, const float* b,
                     float* c) {
  for (std::size_t i = 0; i < rows; ++i) {
    const __m512 element = _mm512_set1_ps(a[i]);
    float* const row = c + i * columns;
    for (std::size_t j = 0; j < columns; j += kLanes) {
      const __mmask16 mask = FirstLanes(columns - j);
      const __m512 product = _mm512_mul_ps(element, _mm512_maskz_loadu_ps(mask, b + j));
      _mm512_mask_storeu_ps(row + j, mask, product);
    }
  }
}

// The other products with a vector gain nothing from wider ones (docs/performance-profile.md).
void MultiplyPlain(std::size_t m, std::size_t k, std::size_t n, const float* a, const float* b,
                   float* c) {
  if (n == 1) return kDenseKernelsAvx2.multiply(m, k, n, a, b, c);
  MultiplyFactors(m, k, n, {a, k, 1}, {b, n, 1}, c);
}

void MultiplyLeftTransposed(std::size_t m, std::size_t k, std::size_t n, const float* a,
                            const float* b, float* c) {
  if (n == 1) return kDenseKernelsAvx2.multiply_left_transposed(m, k, n, a, b, c);
  MultiplyFactors(k, m, n, {a, 1, k}, {b, n, 1}, c);
}

void MultiplyRightTransposed(std::size_t m, std::size_t k, std::size_t n, const float* a,
                             const float* b, float* c) {
  if (n == 1) return MultiplyVectors(m, k, a, b, c);
  MultiplyFactors(m, n, k, {a, n, 1}, {b, 1, n}, c);
}

}  // namespace

const DenseKernels kDenseKernelsAvx512{MultiplyPlain, MultiplyLeftTransposed,
                                       MultiplyRightTransposed};

}  // namespace pstrain
