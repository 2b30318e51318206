/** The sandbox's video: colour bars that move on by one every second. The same for the same length and size. */
import { type Colour, keyPicture, parametersOf, type Picture, repeatedPicture } from './h264.ts'
import { muxMp4, type Track } from './mp4.ts'

export const FRAMES_PER_SECOND = 24

/** White, yellow, cyan, green, magenta, red, blue, black at 75 %, as BT.601 writes them. */
const BARS: readonly Colour[] = [
  { luma: 180, blue: 128, red: 128 },
  { luma: 162, blue: 44, red: 142 },
  { luma: 131, blue: 156, red: 44 },
  { luma: 112, blue: 72, red: 58 },
  { luma: 84, blue: 184, red: 198 },
  { luma: 65, blue: 100, red: 212 },
  { luma: 35, blue: 212, red: 114 },
  { luma: 16, blue: 128, red: 128 },
]

export function sampleVideo(picture: Picture, seconds: number): Uint8Array {
  const count = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND))
  // The bars come round again after as many seconds as there are bars, so few pictures are drawn.
  const turns = BARS.slice(0, Math.ceil(count / FRAMES_PER_SECOND))
  const keys = turns.map((_, turn) => keyPicture(picture, turned(turn), turn))
  const repeats = Array.from({ length: FRAMES_PER_SECOND }, (_, frame) => repeatedPicture(picture, frame))
  const frames: Track['frames'][number][] = []
  for (let at = 0; at < count; at += 1) {
    const inSecond = at % FRAMES_PER_SECOND
    const second = Math.floor(at / FRAMES_PER_SECOND)
    const unit = inSecond === 0 ? keys[second % keys.length] : repeats[inSecond]
    if (unit === undefined) throw new Error('every second has its pictures')
    frames.push({ key: inSecond === 0, unit })
  }
  const parameters = parametersOf(picture, FRAMES_PER_SECOND)
  return muxMp4({ picture, parameters, framesPerSecond: FRAMES_PER_SECOND, frames })
}

function turned(by: number): readonly Colour[] {
  return [...BARS.slice(by), ...BARS.slice(0, by)]
}
