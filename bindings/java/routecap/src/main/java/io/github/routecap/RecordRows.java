// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** The rows of a record, over its own memory. */
public final class RecordRows implements Iterable<RecordRows.Row> {
  private final RecordInfo info;
  private final int[] layerIds;
  private final ByteBuffer ids;
  private final ByteBuffer weights;
  private final ByteBuffer rowValidity;
  private final ByteBuffer cellValidity;

  RecordRows(RecordInfo info, int[] layerIds, ByteBuffer ids, ByteBuffer weights, ByteBuffer rowValidity, ByteBuffer cellValidity) {
    this.info = info;
    this.layerIds = layerIds;
    this.ids = ids;
    this.weights = weights;
    this.rowValidity = rowValidity;
    this.cellValidity = cellValidity;
  }

  /**
   * One token's experts.
   *
   * @param position position of the token
   * @param valid whether the row was captured (R7)
   * @param layerIds model layer number of every column
   * @param experts for every column the K ids in the kernel's order; empty where the cell is missing
   * @param weights for every column the K weights; empty where the cell is missing or no weights are kept
   */
  public record Row(long position, boolean valid, int[] layerIds, int[][] experts, float[][] weights) {}

  /**
   * The number of rows.
   *
   * @return how many
   */
  public long size() {
    return info.rows();
  }

  /**
   * Whether a row was captured.
   *
   * @param row counted from 0
   * @return whether it is valid
   */
  public boolean isValid(long row) {
    check(row, info.rows());
    return bit(rowValidity, row);
  }

  /**
   * Whether a row has a column.
   *
   * @param row counted from 0
   * @param column counted from 0
   * @return whether the cell is valid
   */
  public boolean isValid(long row, int column) {
    check(row, info.rows());
    check(column, info.numLayers());
    return cellValidity.hasRemaining() ? bit(cellValidity, row * info.numLayers() + column) : bit(rowValidity, row);
  }

  /**
   * One row.
   *
   * @param row counted from 0
   * @return a copy
   */
  public Row row(long row) {
    boolean valid = isValid(row);
    int[][] experts = new int[info.numLayers()][];
    float[][] cells = new float[info.numLayers()][];
    for (int column = 0; column < info.numLayers(); column++) {
      boolean there = isValid(row, column);
      int k = there ? info.topK() : 0;
      long first = (row * info.numLayers() + column) * info.topK();
      experts[column] = new int[k];
      cells[column] = new float[there && weights.hasRemaining() ? k : 0];
      for (int index = 0; index < k; index++) {
        experts[column][index] = id(first + index);
        if (cells[column].length > 0) {
          cells[column][index] = weight(first + index);
        }
      }
    }
    return new Row(info.start() + row, valid, layerIds.clone(), experts, cells);
  }

  @Override
  public Iterator<Row> iterator() {
    return new Iterator<>() {
      private long next;

      @Override
      public boolean hasNext() {
        return next < info.rows();
      }

      @Override
      public Row next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return row(next++);
      }
    };
  }

  int[] ids() {
    int[] copy = new int[elements()];
    int index = 0;
    for (long row = 0; row < info.rows(); row++) {
      for (int column = 0; column < info.numLayers(); column++) {
        boolean valid = isValid(row, column);
        for (int k = 0; k < info.topK(); k++, index++) {
          copy[index] = valid ? id(index) : -1;
        }
      }
    }
    return copy;
  }

  float[] weights() {
    float[] copy = new float[weights.hasRemaining() ? elements() : 0];
    for (int index = 0; index < copy.length; index++) {
      copy[index] = weight(index);
    }
    return copy;
  }

  private int elements() {
    return Math.toIntExact(info.rows() * info.numLayers() * info.topK());
  }

  private int id(long index) {
    return switch (info.idsDType()) {
      case UINT8 -> ids.get((int) index) & 0xff;
      case UINT16 -> ids.getShort((int) (2 * index)) & 0xffff;
      default -> ids.getInt((int) (4 * index));
    };
  }

  private float weight(long index) {
    return switch (info.weightsDType()) {
      case FLOAT16 -> float16(weights.getShort((int) (2 * index)));
      case BFLOAT16 -> Float.intBitsToFloat(weights.getShort((int) (2 * index)) << 16);
      default -> weights.getFloat((int) (4 * index));
    };
  }

  /** The number of a binary16's bits, exactly. */
  static float float16(short bits) {
    int sign = (bits & 0x8000) << 16;
    int exponent = bits >> 10 & 0x1f;
    int fraction = bits & 0x3ff;
    if (exponent == 0) {
      // Zero, or a multiple of 2^-24.
      return Float.intBitsToFloat(Float.floatToRawIntBits(fraction * 0x1p-24f) | sign);
    }
    int wide = exponent == 0x1f ? 0xff : exponent + 127 - 15;
    return Float.intBitsToFloat(sign | wide << 23 | fraction << 13);
  }

  private static boolean bit(ByteBuffer bitmap, long index) {
    return (bitmap.get((int) (index / 8)) >> (index % 8) & 1) != 0;
  }

  private static void check(long index, long length) {
    if (index < 0 || index >= length) {
      throw new IndexOutOfBoundsException(index + " of " + length);
    }
  }
}
