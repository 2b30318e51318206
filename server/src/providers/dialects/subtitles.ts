/** Text with times, as subtitle files. */

/** Times in seconds. */
export interface TimedText {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** SubRip. */
export function srtOf(pieces: readonly TimedText[]): string {
  return pieces.map((piece, index) => `${index + 1}\n${timed(piece, ',')}\n\n`).join('')
}

export function vttOf(pieces: readonly TimedText[]): string {
  return `WEBVTT\n\n${pieces.map((piece) => `${timed(piece, '.')}\n\n`).join('')}`
}

function timed({ text, start, end }: TimedText, point: string): string {
  return `${clock(start, point)} --> ${clock(end, point)}\n${text}`
}

function clock(seconds: number, point: string): string {
  const padded = (value: number, digits: number): string => String(value).padStart(digits, '0')
  const ms = Math.round(seconds * 1_000)
  const [hours, minutes, rest] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, ms % 60_000]
  return `${padded(hours, 2)}:${padded(minutes, 2)}:${padded(Math.floor(rest / 1_000), 2)}${point}${padded(rest % 1_000, 3)}`
}
