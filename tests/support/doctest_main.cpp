// SPDX-License-Identifier: Apache-2.0
//
// The program around test cases that need nothing of it.
#include <doctest/doctest.h>

int main(int argc, char** argv) { return doctest::Context(argc, argv).run(); }
