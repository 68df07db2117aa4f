// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Layouts.CapturerConfig;
import io.github.routecap.internal.Native;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Scratch;
import io.github.routecap.internal.Span;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

/** The geometry of a capturer, in the engine's own numbers. What is not given keeps the library's default. */
public final class CapturerBuilder {
  // The struct as C takes it, which begins with C's defaults.
  private final ByteBuffer config = ByteBuffer.allocateDirect(CapturerConfig.SIZE).order(ByteOrder.nativeOrder());
  private int[] layerIds = {};
  private Backend backend;

  CapturerBuilder() {
    NativeApi api = Native.api();
    api.rcap_capturer_config_init(api.address(config), CapturerConfig.SIZE);
    Reference.reachabilityFence(this);
  }

  /**
   * E: logical routed experts of a layer. It decides the dtype of stored ids: uint8 up to 256, uint16 up to 65536, else int32 (R28).
   *
   * @param numExperts the value
   * @return this
   */
  public CapturerBuilder numExperts(int numExperts) {
    config.putInt(CapturerConfig.NUM_EXPERTS, numExperts);
    return this;
  }

  /**
   * K: experts chosen per token and layer, shared experts not counted.
   *
   * @param topK the value
   * @return this
   */
  public CapturerBuilder topK(int topK) {
    config.putInt(CapturerConfig.TOP_K, topK);
    return this;
  }

  /**
   * Columns behind the first K that a kernel with fused shared experts adds; they are dropped (R23).
   *
   * @param numFusedSharedExperts the value
   * @return this
   */
  public CapturerBuilder numFusedSharedExperts(int numFusedSharedExperts) {
    config.putInt(CapturerConfig.NUM_FUSED_SHARED_EXPERTS, numFusedSharedExperts);
    return this;
  }

  /**
   * {@link DType#FLOAT16}, {@link DType#BFLOAT16} or {@link DType#FLOAT32} keeps routing weights beside the ids, {@link DType#NONE} does not.
   *
   * @param weightsDType the value
   * @return this
   */
  public CapturerBuilder weightsDType(DType weightsDType) {
    config.putInt(CapturerConfig.WEIGHTS_DTYPE, given(weightsDType, "weightsDType").value());
    return this;
  }

  /**
   * A label that travels with the records (R29).
   *
   * @param weightsKind the value
   * @return this
   */
  public CapturerBuilder weightsKind(WeightsKind weightsKind) {
    config.putInt(CapturerConfig.WEIGHTS_KIND, given(weightsKind, "weightsKind").value());
    return this;
  }

  /**
   * How closely rows are checked before they are stored.
   *
   * @param checkLevel the value
   * @return this
   */
  public CapturerBuilder checkLevel(CheckLevel checkLevel) {
    config.putInt(CapturerConfig.CHECK_LEVEL, given(checkLevel, "checkLevel").value());
    return this;
  }

  /**
   * Who settles outputs: the caller, or a thread of the capturer's own.
   *
   * @param finalizeMode the value
   * @return this
   */
  public CapturerBuilder finalizeMode(FinalizeMode finalizeMode) {
    config.putInt(CapturerConfig.FINALIZE_MODE, given(finalizeMode, "finalizeMode").value());
    return this;
  }

  /**
   * What {@link Capturer#endForward(Forward)} does when every staging block is in flight (R32).
   *
   * @param busyPolicy the value
   * @return this
   */
  public CapturerBuilder busyPolicy(BusyPolicy busyPolicy) {
    config.putInt(CapturerConfig.BUSY_POLICY, given(busyPolicy, "busyPolicy").value());
    return this;
  }

  /**
   * Whether a caller's 64-bit tag is kept with every row and compared at the read.
   *
   * @param tags the value
   * @return this
   */
  public CapturerBuilder tags(boolean tags) {
    config.putInt(CapturerConfig.TAGS, tags ? 1 : 0);
    return this;
  }

  /**
   * Staging blocks: forwards that may be unsettled at once, 1 .. 4096; 2 by default.
   *
   * @param pipelineDepth the value
   * @return this
   */
  public CapturerBuilder pipelineDepth(int pipelineDepth) {
    config.putInt(CapturerConfig.PIPELINE_DEPTH, pipelineDepth);
    return this;
  }

  /**
   * Tokens of the largest prefill chunk of one rank. Exactly one of this and {@link #maxForwardTokens(long)} is given.
   *
   * @param chunkedPrefillSize the value
   * @return this
   */
  public CapturerBuilder chunkedPrefillSize(long chunkedPrefillSize) {
    config.putLong(CapturerConfig.CHUNKED_PREFILL_SIZE, chunkedPrefillSize);
    return this;
  }

  /**
   * Tokens of the largest forward of one rank where prefill is not chunked.
   *
   * @param maxForwardTokens the value
   * @return this
   */
  public CapturerBuilder maxForwardTokens(long maxForwardTokens) {
    config.putLong(CapturerConfig.MAX_FORWARD_TOKENS, maxForwardTokens);
    return this;
  }

  /**
   * Requests of one rank that may decode at once; 1 by default.
   *
   * @param maxRunningRequests the value
   * @return this
   */
  public CapturerBuilder maxRunningRequests(long maxRunningRequests) {
    config.putLong(CapturerConfig.MAX_RUNNING_REQUESTS, maxRunningRequests);
    return this;
  }

  /**
   * Tokens that a verify forward has per request (drafts + 1); 0 without speculative decoding.
   *
   * @param numVerifyTokens the value
   * @return this
   */
  public CapturerBuilder numVerifyTokens(long numVerifyTokens) {
    config.putLong(CapturerConfig.NUM_VERIFY_TOKENS, numVerifyTokens);
    return this;
  }

  /**
   * Rows of the largest graph batch of one rank, padding included; 0 without graphs.
   *
   * @param maxGraphTokens the value
   * @return this
   */
  public CapturerBuilder maxGraphTokens(long maxGraphTokens) {
    config.putLong(CapturerConfig.MAX_GRAPH_TOKENS, maxGraphTokens);
    return this;
  }

  /**
   * Data-parallel ranks that write into one device buffer; 1 by default.
   *
   * @param dpSize the value
   * @return this
   */
  public CapturerBuilder dpSize(long dpSize) {
    config.putLong(CapturerConfig.DP_SIZE, dpSize);
    return this;
  }

  /**
   * Rows are rounded up to a multiple of the attention tensor parallel size; 1 by default.
   *
   * @param attentionTpSize the value
   * @return this
   */
  public CapturerBuilder attentionTpSize(long attentionTpSize) {
    config.putLong(CapturerConfig.ATTN_TP_SIZE, attentionTpSize);
    return this;
  }

  /**
   * KV slots of this rank; 0 captures and stages and does not store.
   *
   * @param numSlots the value
   * @return this
   */
  public CapturerBuilder numSlots(long numSlots) {
    config.putLong(CapturerConfig.NUM_SLOTS, numSlots);
    return this;
  }

  /**
   * Slots of one KV page; 1 by default.
   *
   * @param pageSize the value
   * @return this
   */
  public CapturerBuilder pageSize(long pageSize) {
    config.putLong(CapturerConfig.PAGE_SIZE, pageSize);
    return this;
  }

  /**
   * The first slots, the engine's padding or null block: rows for them are discarded by contract (R15).
   *
   * @param reservedSlots the value
   * @return this
   */
  public CapturerBuilder reservedSlots(long reservedSlots) {
    config.putLong(CapturerConfig.RESERVED_SLOTS, reservedSlots);
    return this;
  }

  /**
   * The longest wait of {@link BusyPolicy#WAIT}.
   *
   * @param busyTimeout the value
   * @return this
   */
  public CapturerBuilder busyTimeout(Duration busyTimeout) {
    config.putLong(CapturerConfig.BUSY_TIMEOUT_NS, given(busyTimeout, "busyTimeout").toNanos());
    return this;
  }

  /**
   * The captured layers' numbers in the model, ascending.
   *
   * @param layerIds one for every MoE layer that is captured
   * @return this
   */
  public CapturerBuilder layerIds(int... layerIds) {
    this.layerIds = given(layerIds, "layerIds").clone();
    return this;
  }

  /**
   * Where rows are captured.
   *
   * @param backend an open backend, which the capturer keeps alive; null is the host
   * @return this
   */
  public CapturerBuilder backend(Backend backend) {
    this.backend = backend;
    return this;
  }

  /**
   * Computes what {@link #build()} would need, without allocating anything of it.
   *
   * @return the needs
   */
  public Plan plan() {
    NativeApi api = Native.api();
    try (Scratch scratch = Scratch.take()) {
      scratch.struct(Layouts.CapturerPlan.SIZE);
      Failure.check(api.rcap_capturer_plan_get(api.address(config), layers(), scratch.address(), scratch.error()), scratch);
      return Plan.from(scratch);
    } finally {
      // Nothing else refers to a builder that was made in passing: while C reads the struct by its address, the collector would free it.
      Reference.reachabilityFence(this);
    }
  }

  private Span layers() {
    return Array.in(Array.of(layerIds));
  }

  /**
   * Creates the capturer. Next: add the models and their taps, then seal.
   *
   * @return the capturer, to be closed
   */
  public Capturer build() {
    if (backend == null) {
      return build(0, false);
    }
    boolean slotsMayWait = !backend.describe().hostMemory();
    backend.cell.enter();
    try {
      return build(backend.cell.handle, slotsMayWait);
    } finally {
      backend.cell.leave();
    }
  }

  private Capturer build(long place, boolean slotsMayWait) {
    NativeApi api = Native.api();
    boolean forwardsMayWait = config.getInt(CapturerConfig.BUSY_POLICY) != BusyPolicy.REFUSE.value();
    try (Scratch scratch = Scratch.take()) {
      Failure.check(api.rcap_capturer_create(api.address(config), layers(), place, scratch.out(0), scratch.error()), scratch);
      return new Capturer(scratch.outLong(0), forwardsMayWait, slotsMayWait);
    } finally {
      Reference.reachabilityFence(this);
    }
  }
}
