/** How large the sandbox makes a video: the requested size if there is a recording of it, else the nearest. */
import { isJsonObject, type JsonValue } from '../../../core/json.ts'
import { type Recording, RECORDINGS } from './recordings.ts'

/** Seconds of a video without a length, or with an impossible one. */
export const USUAL_SECONDS = 4
/** A minute of the largest size takes two megabytes. */
const SECONDS_MAX = 60
const USUAL: Picture = { width: 1280, height: 720 }

/** Whole pixels. */
export interface Picture {
  readonly width: number
  readonly height: number
}

export function lengthOf(seconds: number | undefined): number {
  return seconds !== undefined && seconds > 0 && seconds <= SECONDS_MAX ? seconds : USUAL_SECONDS
}

export interface PictureWish {
  readonly size: JsonValue | undefined
  readonly ratio: JsonValue | undefined
  readonly resolution: JsonValue | undefined
}

/** Ratio and resolution override the size: the short side is the resolution, the long side follows the ratio. */
export function pictureOf(wish: PictureWish): Picture {
  const sized = sizeOf(wish.size) ?? USUAL
  const short = shortSideOf(wish.resolution) ?? Math.min(sized.width, sized.height)
  const ratio = ratioOf(wish.ratio) ?? sized.width / sized.height
  return ratio >= 1
    ? { width: Math.round(short * ratio), height: short }
    : { width: short, height: Math.round(short / ratio) }
}

/** Of the recordings with the same orientation, the one whose short side is nearest. */
export function recordingNear({ width, height }: Picture): Recording {
  const shape = Math.sign(width - height)
  const distance = (recording: Recording): number =>
    Math.abs(Math.min(recording.width, recording.height) - Math.min(width, height))
  return RECORDINGS.filter((recording) => Math.sign(recording.width - recording.height) === shape).reduce(
    (best, recording) => (distance(recording) < distance(best) ? recording : best),
  )
}

function sizeOf(size: JsonValue | undefined): Picture | undefined {
  if (!isJsonObject(size)) return undefined
  const { width, height } = size
  return isSide(width) && isSide(height) ? { width, height } : undefined
}

function isSide(pixels: JsonValue | undefined): pixels is number {
  return typeof pixels === 'number' && Number.isSafeInteger(pixels) && pixels > 0
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
