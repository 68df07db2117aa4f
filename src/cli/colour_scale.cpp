// SPDX-License-Identifier: Apache-2.0
#include "colour_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace routecap::cli {
namespace {

/// Lightness, green to red, blue to yellow.
struct Lab {
  double lightness;
  double a;
  double b;
};

/// The curve is the quadratic Bézier of these. Chosen so that all of it lies inside sRGB, and that its ends keep their distance from either ground:
/// the lowest value must not look like no cell at all.
constexpr std::array<Lab, 3> kControls = {{{0.30, 0.005, -0.115}, {0.60, -0.145, -0.020}, {0.965, -0.020, 0.075}}};
constexpr int kPieces = 2048;  ///< that the curve's length is summed over

Lab on_curve(double at) {
  const double rest = 1 - at;
  const std::array<double, 3> share = {rest * rest, 2 * rest * at, at * at};
  Lab point{0, 0, 0};
  for (std::size_t i = 0; i < share.size(); ++i) {
    point.lightness += share[i] * kControls[i].lightness;
    point.a += share[i] * kControls[i].a;
    point.b += share[i] * kControls[i].b;
  }
  return point;
}

double distance(const Lab& one, const Lab& other) { return std::hypot(one.lightness - other.lightness, one.a - other.a, one.b - other.b); }

/// OKLab to linear light (Ottosson 2020), then sRGB's transfer curve (IEC 61966-2-1).
std::string hex(const Lab& colour) {
  const double l = std::pow(colour.lightness + 0.3963377774 * colour.a + 0.2158037573 * colour.b, 3);
  const double m = std::pow(colour.lightness - 0.1055613458 * colour.a - 0.0638541728 * colour.b, 3);
  const double s = std::pow(colour.lightness - 0.0894841775 * colour.a - 1.2914855480 * colour.b, 3);
  const std::array<double, 3> linear = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                                        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                                        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  std::array<int, 3> bytes{};
  for (std::size_t i = 0; i < linear.size(); ++i) {
    const double light = std::clamp(linear[i], 0.0, 1.0);
    const double encoded = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
    bytes[i] = static_cast<int>(std::lround(encoded * 255));
  }
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", static_cast<unsigned>(bytes[0]), static_cast<unsigned>(bytes[1]),
                static_cast<unsigned>(bytes[2]));
  return text.data();
}

}  // namespace

std::vector<std::string> colour_scale(Ground ground, int steps) {
  std::vector<double> length = {0};
  for (int piece = 1; piece <= kPieces; ++piece) {
    length.push_back(length.back() + distance(on_curve((piece - 1.0) / kPieces), on_curve(static_cast<double>(piece) / kPieces)));
  }
  std::vector<std::string> colours;
  for (int step = 0; step < steps; ++step) {
    const double wanted = steps > 1 ? length.back() * step / (steps - 1) : 0;
    const auto piece = static_cast<double>(std::lower_bound(length.begin(), length.end(), wanted) - length.begin());
    colours.push_back(hex(on_curve(piece / kPieces)));
  }
  // On a light ground the pale end is the low one.
  if (ground == Ground::kLight) std::reverse(colours.begin(), colours.end());
  return colours;
}

}  // namespace routecap::cli
