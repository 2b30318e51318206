/** How large the sandbox makes a video: as asked where it can, else as it likes. */
import { isJsonObject, type JsonValue } from '../../../core/json.ts'
import type { Picture } from './h264.ts'

/** Seconds of a video nobody gave a length, or one no video can have. */
export const USUAL_SECONDS = 4
/** A minute of the largest picture is two megabytes. */
const SECONDS_MAX = 60
const SIDE_MIN = 64
const SIDE_MAX = 3840
const USUAL: Picture = { width: 1280, height: 720 }

export function lengthOf(seconds: number | undefined): number {
  return seconds !== undefined && seconds > 0 && seconds <= SECONDS_MAX ? seconds : USUAL_SECONDS
}

export interface PictureWish {
  readonly size: JsonValue | undefined
  readonly ratio: JsonValue | undefined
  readonly resolution: JsonValue | undefined
}

/** Ratio and resolution change what the size says: the short side is the resolution, the long one follows the ratio. */
export function pictureOf(wish: PictureWish): Picture {
  const sized = sizeOf(wish.size) ?? USUAL
  const short = shortSideOf(wish.resolution) ?? Math.min(sized.width, sized.height)
  const ratio = ratioOf(wish.ratio) ?? sized.width / sized.height
  if (wish.ratio === undefined && wish.resolution === undefined) return sized
  const picture =
    ratio >= 1
      ? { width: even(short * ratio), height: even(short) }
      : { width: even(short), height: even(short / ratio) }
  return fits(picture) ? picture : sized
}

function sizeOf(size: JsonValue | undefined): Picture | undefined {
  if (!isJsonObject(size)) return undefined
  const { width, height } = size
  if (typeof width !== 'number' || typeof height !== 'number') return undefined
  const picture = { width: even(width), height: even(height) }
  return fits(picture) ? picture : undefined
}

function ratioOf(ratio: JsonValue | undefined): number | undefined {
  const found = /^(\d{1,3}):(\d{1,3})$/.exec(typeof ratio === 'string' ? ratio : '')
  const value = Number(found?.[1]) / Number(found?.[2])
  return Number.isFinite(value) && value > 0 ? value : undefined
}

function shortSideOf(resolution: JsonValue | undefined): number | undefined {
  const text = typeof resolution === 'string' ? resolution.toLowerCase() : ''
  if (text === '4k') return 2160
  const lines = Number(/^(\d{2,4})p$/.exec(text)?.[1])
  return Number.isFinite(lines) ? lines : undefined
}

/** Colours are stored for every second pixel only. */
function even(pixels: number): number {
  return Math.round(pixels / 2) * 2
}

function fits({ width, height }: Picture): boolean {
  return Math.min(width, height) >= SIDE_MIN && Math.max(width, height) <= SIDE_MAX
}
