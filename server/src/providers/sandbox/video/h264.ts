/**
 * An H.264 stream of colour bars, Constrained Baseline, which every player decodes (ITU-T H.264). A picture costs one
 * byte a macroblock: the first row of macroblocks names the colours as differences to the left, the others copy what is
 * above. A picture that repeats the one before costs a dozen bytes.
 */
import { type BitWriter, bitWriter } from './bits.ts'

/** Luma and the two chroma samples, the differences to blue and to red; 0 to 255. */
export interface Colour {
  readonly luma: number
  readonly blue: number
  readonly red: number
}

export interface Picture {
  /** Even numbers of pixels. */
  readonly width: number
  readonly height: number
}

/** At this step a coefficient of 1 moves a whole block's luma by 1 and its chroma by 2. */
const QUANTISER = 28
const NAL_SLICE = 0x61
const NAL_KEY_SLICE = 0x65
const NAL_SEQUENCE = 0x67
const NAL_PICTURE = 0x68
const PROFILE_BASELINE = 66
/** Constraint sets 0 and 1: Constrained Baseline. */
const CONSTRAINTS = 0xc0

export interface Parameters {
  readonly profile: number
  readonly constraints: number
  readonly level: number
  readonly sequence: Uint8Array
  readonly picture: Uint8Array
}

export function parametersOf(picture: Picture, framesPerSecond: number): Parameters {
  const level = levelOf(picture, framesPerSecond)
  return {
    profile: PROFILE_BASELINE,
    constraints: CONSTRAINTS,
    level,
    sequence: sequenceParameters(picture, level),
    picture: pictureParameters(),
  }
}

/** A picture of upright bars from left to right, decodable alone. `turn` tells neighbouring key pictures apart. */
export function keyPicture(picture: Picture, bars: readonly Colour[], turn: number): Uint8Array {
  const { columns, rows } = macroblocksOf(picture)
  const writer = bitWriter()
  sliceHeader(writer, { key: true, turn, frame: 0 })
  let left: Colour = { luma: 128, blue: 128, red: 128 }
  for (let column = 0; column < columns; column += 1) {
    const wanted = bars[Math.floor((column * bars.length) / columns)] ?? left
    left = firstRowBlock(writer, left, wanted, column)
  }
  for (let block = columns; block < columns * rows; block += 1) copyAbove(writer)
  return unit(NAL_KEY_SLICE, writer)
}

/** A picture equal to the one before; `frame` counts from the key picture. */
export function repeatedPicture(picture: Picture, frame: number): Uint8Array {
  const { columns, rows } = macroblocksOf(picture)
  const writer = bitWriter()
  sliceHeader(writer, { key: false, turn: 0, frame })
  // mb_skip_run over the whole picture.
  writer.unsigned(columns * rows)
  return unit(NAL_SLICE, writer)
}

function macroblocksOf(picture: Picture): { readonly columns: number; readonly rows: number } {
  return { columns: Math.ceil(picture.width / 16), rows: Math.ceil(picture.height / 16) }
}

/** Number of the level, and what it allows: macroblocks a picture, macroblocks a second (table A-1). */
const LEVELS: readonly (readonly [level: number, picture: number, second: number])[] = [
  [10, 99, 1_485],
  [11, 396, 3_000],
  [12, 396, 6_000],
  [13, 396, 11_880],
  [21, 792, 19_800],
  [22, 1_620, 20_250],
  [30, 1_620, 40_500],
  [31, 3_600, 108_000],
  [32, 5_120, 216_000],
  [40, 8_192, 245_760],
  [42, 8_704, 522_240],
  [50, 22_080, 589_824],
  [51, 36_864, 983_040],
]

function levelOf(picture: Picture, framesPerSecond: number): number {
  const { columns, rows } = macroblocksOf(picture)
  const count = columns * rows
  const fitting = LEVELS.find(
    ([, inPicture, inSecond]) =>
      // A side may not be longer than the root of eight full pictures.
      count <= inPicture &&
      count * framesPerSecond <= inSecond &&
      Math.max(columns, rows) ** 2 <= 8 * inPicture,
  )
  return fitting?.[0] ?? 51
}

function sequenceParameters(picture: Picture, level: number): Uint8Array {
  const { columns, rows } = macroblocksOf(picture)
  const writer = bitWriter()
  writer.bits(PROFILE_BASELINE, 8)
  writer.bits(CONSTRAINTS, 8)
  writer.bits(level, 8)
  // seq_parameter_set_id
  writer.unsigned(0)
  // log2_max_frame_num_minus4: 8 bits of frame number
  writer.unsigned(4)
  // pic_order_cnt_type: pictures are shown in the order they are decoded
  writer.unsigned(2)
  // max_num_ref_frames
  writer.unsigned(1)
  // gaps_in_frame_num_value_allowed_flag
  writer.bits(0, 1)
  writer.unsigned(columns - 1)
  writer.unsigned(rows - 1)
  // frame_mbs_only_flag, direct_8x8_inference_flag
  writer.bits(0b11, 2)
  cropping(writer, columns * 16 - picture.width, rows * 16 - picture.height)
  // vui_parameters_present_flag
  writer.bits(0, 1)
  return unit(NAL_SEQUENCE, writer)
}

/** Pixels of the last macroblocks that lie beyond the picture, in steps of two. */
function cropping(writer: BitWriter, right: number, bottom: number): void {
  const cropped = right > 0 || bottom > 0
  writer.bits(cropped ? 1 : 0, 1)
  if (!cropped) return
  for (const pixels of [0, right, 0, bottom]) writer.unsigned(pixels / 2)
}

function pictureParameters(): Uint8Array {
  const writer = bitWriter()
  // pic_parameter_set_id, seq_parameter_set_id
  writer.unsigned(0)
  writer.unsigned(0)
  // entropy_coding_mode_flag: CAVLC; bottom_field_pic_order_in_frame_present_flag
  writer.bits(0b00, 2)
  // num_slice_groups_minus1, num_ref_idx_l0_default_active_minus1, num_ref_idx_l1_default_active_minus1
  for (let field = 0; field < 3; field += 1) writer.unsigned(0)
  // weighted_pred_flag, weighted_bipred_idc
  writer.bits(0b000, 3)
  writer.signed(QUANTISER - 26)
  // pic_init_qs_minus26, chroma_qp_index_offset
  writer.signed(0)
  writer.signed(0)
  // deblocking_filter_control_present_flag, constrained_intra_pred_flag, redundant_pic_cnt_present_flag
  writer.bits(0b100, 3)
  return unit(NAL_PICTURE, writer)
}

interface SliceHeader {
  readonly key: boolean
  readonly turn: number
  readonly frame: number
}

function sliceHeader(writer: BitWriter, { key, turn, frame }: SliceHeader): void {
  // first_mb_in_slice
  writer.unsigned(0)
  // slice_type: all slices of the picture are I or P
  writer.unsigned(key ? 7 : 5)
  // pic_parameter_set_id
  writer.unsigned(0)
  writer.bits(frame, 8)
  if (key) {
    // idr_pic_id; no_output_of_prior_pics_flag, long_term_reference_flag
    writer.unsigned(turn % 2)
    writer.bits(0b00, 2)
  } else {
    // num_ref_idx_active_override_flag, ref_pic_list_modification_flag_l0, adaptive_ref_pic_marking_mode_flag
    writer.bits(0b000, 3)
  }
  // slice_qp_delta
  writer.signed(0)
  // disable_deblocking_filter_idc: bars stay sharp
  writer.unsigned(1)
}

/** Prediction modes of luma and chroma have different numbers for the same thing (tables 8-4 and 8-5). */
const FROM_ABOVE = { luma: 0, chroma: 2 }
const FROM_LEFT = { luma: 1, chroma: 1 }
/** The first macroblock has nobody to copy and is predicted as grey. */
const FROM_NOBODY = { luma: 2, chroma: 0 }

/** Gives back the colour as a decoder sees it: chroma moves in steps of two. */
function firstRowBlock(writer: BitWriter, left: Colour, wanted: Colour, column: number): Colour {
  const luma = wanted.luma - left.luma
  const blue = Math.round((wanted.blue - left.blue) / 2)
  const red = Math.round((wanted.red - left.red) / 2)
  const mode = column === 0 ? FROM_NOBODY : FROM_LEFT
  const coloured = blue !== 0 || red !== 0
  macroblockHeader(writer, mode, coloured)
  lumaCoefficient(writer, luma)
  if (coloured) {
    chromaCoefficient(writer, blue)
    chromaCoefficient(writer, red)
  }
  return { luma: wanted.luma, blue: left.blue + 2 * blue, red: left.red + 2 * red }
}

function copyAbove(writer: BitWriter): void {
  macroblockHeader(writer, FROM_ABOVE, false)
  lumaCoefficient(writer, 0)
}

function macroblockHeader(writer: BitWriter, mode: typeof FROM_ABOVE, coloured: boolean): void {
  // mb_type I_16x16 without AC coefficients, with chroma DC where the colour changes (table 7-11).
  writer.unsigned(1 + mode.luma + (coloured ? 4 : 0))
  writer.unsigned(mode.chroma)
  // mb_qp_delta
  writer.signed(0)
}

/** The one coefficient of a luma block of 16 × 16, by CAVLC (9.2); its neighbours never have others. */
function lumaCoefficient(writer: BitWriter, level: number): void {
  if (level === 0) return writer.bits(0b1, 1)
  if (Math.abs(level) === 1) writer.bits(0b01, 2)
  else writer.bits(0b000101, 6)
  coefficient(writer, level)
}

function chromaCoefficient(writer: BitWriter, level: number): void {
  if (level === 0) return writer.bits(0b01, 2)
  if (Math.abs(level) === 1) writer.bits(0b1, 1)
  else writer.bits(0b000111, 6)
  coefficient(writer, level)
}

function coefficient(writer: BitWriter, level: number): void {
  if (Math.abs(level) === 1) writer.bits(level < 0 ? 1 : 0, 1)
  else {
    // The smallest level that is no trailing one has code 0 (9.2.2.1).
    const code = 2 * Math.abs(level) - (level < 0 ? 1 : 2) - 2
    if (code < 14) writer.bits(1, code + 1)
    else if (code < 30) {
      writer.bits(1, 15)
      writer.bits(code - 14, 4)
    } else {
      writer.bits(1, 16)
      writer.bits(code - 30, 12)
    }
  }
  // total_zeros: none before the first coefficient
  writer.bits(1, 1)
}

function unit(type: number, writer: BitWriter): Uint8Array {
  const payload = writer.finish()
  const whole = new Uint8Array(payload.byteLength + 1)
  whole[0] = type
  whole.set(payload, 1)
  return whole
}
