// SPDX-License-Identifier: Apache-2.0
// Jobs that threads divide among themselves, beside the same jobs on one thread: every byte is the same.
#include <doctest/doctest.h>

#include <numeric>

#include "rows/crew.h"
#include "rows/fixture.h"
#include "support/dtype.h"

namespace routecap::rows::testing {
namespace {

constexpr std::int32_t kGivenTypes[] = {RCAP_DTYPE_UINT8, RCAP_DTYPE_UINT16, RCAP_DTYPE_INT16, RCAP_DTYPE_INT32, RCAP_DTYPE_INT64};

/// Arrays of one capture, with noise for ids: some of them are bad.
struct Given {
  Given(Random& random, const RowShape& shape, std::int64_t tokens, std::int32_t dtype, std::int64_t extra, std::int32_t weights_in) {
    stride = shape.top_k * dtype_bytes(dtype) + extra;
    ids = Fenced(tokens * stride, random);
    // Most ids good: what is above 7 in the upper bytes goes, and every row is its own.
    const std::int64_t size = dtype_bytes(dtype);
    for (std::int64_t i = 0; i < tokens * stride; ++i) {
      if (i % stride % size != 0 && !random.one_in(4000)) ids.data()[i] = std::byte{0};
    }
    weights_stride = shape.weight_bytes == 0 ? 0 : shape.top_k * dtype_bytes(weights_in) + extra;
    weights = Fenced(tokens * weights_stride, random);
  }
  std::int64_t stride = 0;
  std::int64_t weights_stride = 0;
  Fenced ids;
  Fenced weights;
};

struct Kind {
  std::int32_t experts;
  std::int32_t top_k;
  std::int32_t ids_dtype;
  std::int64_t extra;
  std::int32_t weights_in;
  std::int32_t weights_kept;
};

CaptureJob capture_job(Cache& cache, const Given& given, const Kind& kind, std::int64_t tokens, std::int64_t first_row) {
  CaptureJob job;
  job.shape = cache.shape;
  job.cache = cache.view();
  job.num_experts = kind.experts;
  job.ids = given.ids.data();
  job.ids_dtype = kind.ids_dtype;
  job.ids_stride = given.stride;
  if (kind.weights_kept != 0) {
    job.weights = given.weights.data();
    job.weights_dtype_in = kind.weights_in;
    job.weights_dtype = kind.weights_kept;
    job.weights_stride = given.weights_stride;
  }
  job.tokens = tokens;
  job.first_row = first_row;
  return job;
}

bool same_extents(const Cache& a, const Cache& b) {
  return std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(),
                    [](const LayerExtent& x, const LayerExtent& y) { return x.first == y.first && x.end == y.end && x.strays == y.strays; });
}

void check_capture(Random& random, const Kind& kind, std::int64_t tokens, std::int32_t threads) {
  CAPTURE(kind.experts);
  CAPTURE(kind.top_k);
  CAPTURE(kind.ids_dtype);
  CAPTURE(kind.extra);
  CAPTURE(tokens);
  const RowShape shape = make_shape(2, kind.top_k, id_bytes_for(kind.experts), dtype_bytes(kind.weights_kept), false);
  const std::int64_t first_row = random.between(0, 9);
  const Cache start(shape, first_row + tokens + random.between(0, 9), random);
  const Given given(random, shape, tokens, kind.ids_dtype, kind.extra, kind.weights_in);
  TestCrew crew(threads);
  Cache alone = start;
  Cache together = start;
  for (int time = 0; time < 2; ++time) {  // the second time every row is repeated
    capture(capture_job(alone, given, kind, tokens, first_row));
    capture(capture_job(together, given, kind, tokens, first_row), crew.crew());
    REQUIRE(together.same_bytes(alone));
    REQUIRE(together.intact());
    REQUIRE(same_extents(together, alone));
  }
  REQUIRE(crew.jobs() == (tokens > 8 ? 2 : 0));
}

}  // namespace

TEST_CASE("cut_rows: pieces cover the rows, begin at whole bytes of a bitmap, and are no more than are worth their dispatch") {
  TestCrew test(4, 1000);
  const Crew crew = test.crew();
  for (const std::int64_t rows : {0, 1, 7, 8, 9, 63, 64, 65, 100, 511, 512, 513, 4096, 4097, 100000}) {
    for (const std::int64_t bytes : {0, 1, 999, 1000, 1999, 2000, 4000, 100000, 1 << 30}) {
      CAPTURE(rows);
      CAPTURE(bytes);
      const Cut cut = cut_rows(crew, rows, bytes);
      REQUIRE(cut.rows == rows);
      REQUIRE(cut.pieces >= 1);
      REQUIRE(cut.pieces <= 32);
      if (bytes < 1000) REQUIRE(cut.pieces == 1);
      REQUIRE(cut.pieces <= std::max<std::int64_t>(bytes / 500, 1));
      if (cut.pieces == 1) continue;
      REQUIRE(cut.step % 8 == 0);
      REQUIRE((cut.pieces - 1) * cut.step < rows);
      REQUIRE(cut.pieces * cut.step >= rows);
    }
  }
  REQUIRE(cut_rows(Crew{}, 8192, 1 << 30).pieces == 1);
  REQUIRE(cut_rows(TestCrew(1).crew(), 8192, 1 << 30).pieces == 1);
  REQUIRE(cut_rows(TestCrew(200).crew(), 65536, 1 << 30).pieces == kMostPieces);
  // Two threads get as much each, as soon as there is enough for both.
  REQUIRE(cut_rows(TestCrew(2, 1000).crew(), 8192, 1700).pieces == 2);
  REQUIRE(cut_rows(TestCrew(2, 1000).crew(), 8192, 2999).pieces == 4);
}

TEST_CASE("a job below what is worth dividing stays with its caller, one above does not") {
  Random random(21);
  const Kind kind{256, 8, RCAP_DTYPE_INT32, 0, 0, 0};
  const RowShape shape = make_shape(1, 8, 1, 0, false);
  for (const auto& [tokens, divided] : {std::pair<std::int64_t, bool>{3196, false}, {3197, true}}) {  // 41 bytes a row, 128 KiB
    TestCrew crew(2, std::int64_t{128} * 1024);
    Cache cache(shape, tokens, random);
    const Given given(random, shape, tokens, kind.ids_dtype, 0, 0);
    capture(capture_job(cache, given, kind, tokens, 0), crew.crew());
    CHECK((crew.jobs() == 1) == divided);
  }
}

TEST_CASE("capture by several threads: every pair of types, dense and strided, around the edges of pieces") {
  Random random(22);
  for (const std::int32_t experts : {200, 256, 300, 65536, 65537}) {
    for (const std::int32_t dtype : kGivenTypes) {
      for (const std::int64_t extra : {0, 12}) {
        const Kind kind{experts, 8, dtype, extra, 0, 0};
        for (const std::int64_t tokens : {1, 8, 9, 17, 64, 65, 129, 1000}) check_capture(random, kind, tokens, 2);
      }
    }
  }
}

TEST_CASE("capture by several threads: K from 1 to 22, and weights in every form") {
  Random random(23);
  for (std::int32_t top_k = 1; top_k <= 22; ++top_k) {
    for (const auto& [in, kept] : {std::pair{RCAP_DTYPE_FLOAT32, RCAP_DTYPE_FLOAT16}, std::pair{RCAP_DTYPE_FLOAT32, RCAP_DTYPE_BFLOAT16},
                                   std::pair{RCAP_DTYPE_FLOAT32, RCAP_DTYPE_FLOAT32}, std::pair{RCAP_DTYPE_FLOAT16, RCAP_DTYPE_FLOAT16}}) {
      check_capture(random, {256, top_k, RCAP_DTYPE_INT32, random.pick<std::int64_t>({0, 4}), in, kept}, random.between(9, 300), 3);
    }
  }
}

TEST_CASE("R14, R22: rows of a PARTIAL layer by several threads: ids through a map, strays counted, no two entries for one row") {
  Random random(24);
  for (int trial = 0; trial < 40; ++trial) {
    const std::int64_t tokens = random.between(9, 600);
    const Kind kind{256, 8, RCAP_DTYPE_INT32, 0, 0, 0};
    const RowShape shape = make_shape(2, 8, 1, 0, true);
    const Cache start(shape, 700, random);
    const Given given(random, shape, tokens, kind.ids_dtype, 0, 0);
    std::vector<std::int32_t> row_ids(700);
    std::iota(row_ids.begin(), row_ids.end(), 0);
    for (std::size_t i = row_ids.size() - 1; i > 0; --i)
      std::swap(row_ids[i], row_ids[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
    for (std::int32_t& row : row_ids) {
      if (random.one_in(9)) row = random.pick<std::int32_t>({-1, 700, 1 << 30});
    }
    std::vector<std::int64_t> map(300);
    for (std::int64_t& logical : map) logical = random.between(-1, 256);
    TestCrew crew(4);
    Cache alone = start;
    Cache together = start;
    for (Cache* cache : {&alone, &together}) {
      CaptureJob job = capture_job(*cache, given, kind, tokens, 0);
      job.row_ids = row_ids.data();
      job.id_map = map.data();
      job.id_map_dtype = RCAP_DTYPE_INT64;
      job.id_map_entries = 300;
      cache == &alone ? capture(job) : capture(job, crew.crew());
    }
    REQUIRE(crew.jobs() == 1);
    REQUIRE(together.same_bytes(alone));
    REQUIRE(same_extents(together, alone));
    REQUIRE(alone.extents[0].strays > 0);
  }
}

TEST_CASE("R27: two entries for one row, from two threads: the row is marked repeated, its neighbours are as they were given") {
  Random random(25);
  const std::int64_t tokens = 512;
  const RowShape shape = make_shape(1, 8, 1, 0, true);
  const Given given(random, shape, tokens, RCAP_DTYPE_UINT8, 0, 0);
  std::vector<std::int32_t> row_ids(static_cast<std::size_t>(tokens));
  for (std::size_t i = 0; i < row_ids.size(); ++i) row_ids[i] = static_cast<std::int32_t>(i % 400);  // rows 0 .. 111 twice
  TestCrew crew(4);
  Cache cache(shape, 400, random);
  CaptureJob job = capture_job(cache, given, {256, 8, RCAP_DTYPE_UINT8, 0, 0, 0}, tokens, 0);
  job.row_ids = row_ids.data();
  capture(job, crew.crew());
  REQUIRE(crew.pieces() > 1);
  for (std::int64_t row = 0; row < 400; ++row) {
    REQUIRE(int{cache.mark(0, row)} == (row < 112 ? kMarkCaptured | kMarkRepeated : int{kMarkCaptured}));
    if (row >= 112) REQUIRE(std::equal(cache.ids.data() + row * 8, cache.ids.data() + row * 8 + 8, given.ids.data() + row * 8));
  }
}

namespace {

struct Staged {
  Staged(const RowShape& shape, std::int64_t rows, Random& random)
      : payload(shape.payload_bytes * rows, random), bad_layer(rows * 4, random), counts(static_cast<std::size_t>(shape.layers) * 3, -7) {}
  void aim(SnapshotJob& job) {
    const std::int32_t layers = job.shape.layers;
    job.payload = payload.data();
    job.bad_layer = reinterpret_cast<std::int32_t*>(bad_layer.data());
    job.captured = counts.data();
    job.repeated = counts.data() + layers;
    job.strays = counts.data() + std::ptrdiff_t{2} * layers;
  }
  friend bool operator==(const Staged&, const Staged&) = default;
  Fenced payload;
  Fenced bad_layer;
  std::vector<std::int64_t> counts;
};

void check_snapshot(Random& random, const RowShape& shape, bool messy, bool listed) {
  const std::int64_t tokens = random.between(9, 300);
  const std::int64_t first_row = random.between(0, 5);
  Cache alone(shape, first_row + tokens + random.between(0, 5), random);
  std::vector<std::uint8_t> partial(static_cast<std::size_t>(shape.layers));
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    partial[static_cast<std::size_t>(layer)] = static_cast<std::uint8_t>(random.between(0, 1));
    LayerExtent& extent = alone.extents[static_cast<std::size_t>(layer)];
    if (random.one_in(6)) continue;  // nothing captured
    extent = {random.between(0, first_row + 1), alone.rows - random.between(0, 5), random.between(0, 3)};
    for (std::int64_t row = extent.first; row < extent.end; ++row) {
      alone.mark(layer, row) = messy ? random.pick<std::uint8_t>({0, 1, 1, 1, 1, 3, 5, 7}) : kMarkCaptured;
    }
  }
  Cache together = alone;
  std::vector<std::int64_t> rows;
  for (std::int64_t i = random.between(9, tokens + 3); i > 0; --i) rows.push_back(random.between(-1, tokens));
  SnapshotJob job;
  job.shape = shape;
  job.first_row = first_row;
  job.tokens = tokens;
  job.rows = listed ? rows.data() : nullptr;
  job.staged = listed ? static_cast<std::int64_t>(rows.size()) : tokens - (random.one_in(3) ? 1 : 0);
  job.partial = partial.data();
  Staged expected(shape, job.staged, random);
  Staged got = expected;
  job.cache = alone.view();
  expected.aim(job);
  snapshot(job);
  clear_marks(shape, job.cache);
  TestCrew crew(3);
  job.cache = together.view();
  got.aim(job);
  snapshot_and_clear(job, crew.crew());
  REQUIRE((job.staged <= 8 || crew.jobs() >= 2));
  REQUIRE(got == expected);
  REQUIRE(together.same_bytes(alone));
  REQUIRE(same_extents(together, alone));
  for (std::int64_t at = 0; at < together.marks.size(); ++at) REQUIRE(together.marks.data()[at] == std::byte{0});
}

}  // namespace

TEST_CASE("snapshot by several threads: what one thread stages, counts, blames and clears") {
  Random random(26);
  for (int trial = 0; trial < 300; ++trial) {
    const RowShape shape = make_shape(static_cast<std::int32_t>(random.between(1, 70)), static_cast<std::int32_t>(random.between(1, 9)),
                                      random.pick({1, 2, 4}), random.pick({0, 2, 4}), random.one_in(2));
    check_snapshot(random, shape, random.one_in(2), random.one_in(2));
  }
}

TEST_CASE("R27: clear_marks by several threads leaves no mark, no extent and no stray, wherever a layer captured") {
  Random random(29);
  for (int trial = 0; trial < 60; ++trial) {
    const RowShape shape = make_shape(static_cast<std::int32_t>(random.between(1, 9)), 2, 1, 0, true);
    Cache cache(shape, random.between(9, 200), random);
    for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
      if (random.one_in(4)) continue;
      const std::int64_t first = random.between(0, cache.rows - 1);
      cache.extents[static_cast<std::size_t>(layer)] = {first, random.between(first, cache.rows), random.between(0, 2)};
      for (std::int64_t row = first; row < cache.extents[static_cast<std::size_t>(layer)].end; ++row) cache.mark(layer, row) = kMarkCaptured;
    }
    TestCrew crew(3);
    clear_marks(shape, cache.view(), crew.crew());
    for (std::int64_t at = 0; at < cache.marks.size(); ++at) REQUIRE(cache.marks.data()[at] == std::byte{0});
    for (const LayerExtent& extent : cache.extents) REQUIRE((extent.first == extent.end && extent.strays == 0));
    REQUIRE(cache.intact());
  }
}

TEST_CASE("copy by several threads: every length around a line and around the pieces") {
  Random random(27);
  for (const std::int64_t bytes : {0, 1, 63, 64, 65, 511, 512, 513, 577, 4095, 4096, 4097, 70001}) {
    CAPTURE(bytes);
    const Fenced from(bytes, random);
    Fenced to(bytes, random);
    TestCrew crew(3);
    copy(to.data(), from.data(), bytes, crew.crew());
    REQUIRE(to.intact());
    REQUIRE(std::equal(to.data(), to.data() + bytes, from.data()));
    REQUIRE((crew.jobs() == 1) == (bytes > 512));
  }
}

}  // namespace routecap::rows::testing
