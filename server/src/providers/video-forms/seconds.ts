/** The declared length in the vendors' forms. It is billed, so it is never clamped (docs/protocols.md#video-2). */
import type { VideoSubmit } from '../video.ts'

/**
 * A number for vendors that accept numbers. Other values are passed on unchanged, for the vendor to decide; `-1`, which
 * some read as "any length", cannot be billed by the second and is omitted.
 */
export function secondsValue({ seconds, request }: VideoSubmit): number | string | undefined {
  if (seconds === undefined) return request.seconds?.startsWith('-') === true ? undefined : request.seconds
  return seconds > 0 ? seconds : undefined
}

/** The same for vendors that accept text. */
export function secondsText(submit: VideoSubmit): string | undefined {
  const value = secondsValue(submit)
  return value === undefined ? undefined : String(value)
}
