// SPDX-License-Identifier: Apache-2.0
//
// README's sample in Node.js, which only loads the library: koffi, and the description of the API for the places of fields.
//
//   node consumer.js KOFFI LIBRARY API_JSON
'use strict';
const fs = require('fs');
const koffi = require(process.argv[2]);
const library = koffi.load(process.argv[3]);
const api = JSON.parse(fs.readFileSync(process.argv[4], 'utf8'));
const described = new Map(api.functions.map((f) => [f.name, f]));

const TYPES = {int32_t: 'int32_t', int64_t: 'int64_t', rcap_status: 'int32_t', void: 'void'};
const resolved = new Map();
function native(name, returns, parameters) {
  if (!resolved.has(name)) resolved.set(name, library.func(name, returns, parameters));
  return resolved.get(name);
}

// A struct of the API as bytes, with its defaults.
function struct(name, fields = {}) {
  const description = api.structs.find((s) => s.name === name);
  const bytes = Buffer.alloc(description.size);
  native(description.init, 'void', ['void *', 'int64_t'])(bytes, bytes.length);
  for (const [field, value] of Object.entries(fields)) {
    const place = description.fields.find((f) => f.name === field);
    if (place.type === 'int32_t') bytes.writeInt32LE(value, place.offset);
    else bytes.writeBigInt64LE(BigInt(value), place.offset);
  }
  return bytes;
}

const error = struct('rcap_error');
function call(name, ...given) {
  const f = described.get(name);
  const status = native(name, TYPES[f.returns], f.parameters.map((p) => TYPES[p.type] || 'void *'))(...given);
  if (f.returns === 'rcap_status' && status !== 0) {
    console.error(`${name}: ${status}: ${error.toString('latin1', 24).split('\0')[0]}`);
    process.exit(1);
  }
}

// A call whose last argument but the error receives a pointer.
function handle(name, ...given) {
  const out = Buffer.alloc(8);
  call(name, ...given, out, error);
  return out.readBigUInt64LE();
}

const layers = Buffer.from(Int32Array.of(3, 4).buffer);
const slots = Buffer.from(BigInt64Array.of(40n, 41n, 7n).buffer);
const topk = [[17, 4, 255, 0, 9, 30], [1, 2, 3, 4, 5, 6]].map((ids) => Buffer.from(Int32Array.from(ids).buffer));

const config = struct('rcap_capturer_config', {num_experts: 256, top_k: 2, chunked_prefill_size: 128, num_slots: 1024});
const capturer = handle('rcap_capturer_create', config, layers, 2, null);
const target = handle('rcap_capturer_add_model', capturer, 0, Buffer.from('target\0'));
const taps = [3, 4].map((layer) => handle('rcap_model_add_tap', target, layer, null, null, 0));
call('rcap_capturer_seal', capturer, error);
const capture = struct('rcap_capture_layout', {columns: 2, tokens: 3});
taps.forEach((tap, i) => call('rcap_tap_capture', tap, capture, topk[i], topk[i].length, null, 0, null, 0, null, error));
const output = handle('rcap_capturer_end_forward', capturer, struct('rcap_forward_layout', {tokens: 3}), slots, 24, null, 0, null, 0, null);
call('rcap_output_copy_to_host', output, null, error);
call('rcap_output_wait', output, 1000000000, error);
call('rcap_output_finalize', output, null, error);
call('rcap_output_destroy', output);
const record = handle('rcap_capturer_read', capturer, struct('rcap_read_layout', {tokens: 4}), slots, 24, null, 0);
const size = Buffer.alloc(8);
const data = Buffer.alloc(8);
call('rcap_record_ids', record, data, size, error);
const cells = koffi.decode(koffi.decode(data, 'void *'), koffi.array('uint8_t', Number(size.readBigInt64LE()), 'Array'));
for (let row = 0; row < 3; ++row) {
  const [a, b, c, d] = cells.slice(row * 4, row * 4 + 4);
  console.log(`token ${row}: layer 3 -> ${a} ${b}, layer 4 -> ${c} ${d}`);
}
call('rcap_record_destroy', record);
call('rcap_capturer_destroy', capturer);
