// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <rapidcheck.h>

#include "records/model.h"

/// Random records. Their shape is RapidCheck's to draw and to shrink; what the cells hold comes from a drawn seed.
namespace routecap_records {

struct Draw {
  std::int64_t least_rows = 0;
  std::int64_t most_rows = 40;
  std::int32_t most_layers = 10;
};

/// Any record: every id and weights dtype, holes, several weight versions, flags, PARTIAL layers, rows that lack cells.
Model any_model(const Draw& draw = {});

/// Other rows of the same shape.
Model any_rows(const Model& shape, std::int64_t start, std::int64_t rows);

/// Numbers low .. high, both included.
std::int64_t any_number(std::int64_t low, std::int64_t high);

/// A random part of a list, neither empty nor all of it where it has two or more.
std::vector<std::int32_t> any_part(const std::vector<std::int32_t>& list);

std::vector<std::int32_t> layers_of(const Model& model);

/// Fails the property where the record has other bytes than the model says, both shown.
void must_be(const Handle& record, const Model& model);
void must_be(const Handle& record, const Handle& other);

}  // namespace routecap_records
