/** The sandbox's video: a recording of the requested length. The same for the same length and size. */
import { decodeBase64Bytes } from '../../../core/canonical/media/base64.ts'
import type { Recording } from './recordings.ts'
import { join, muxMp4, type Track } from './mp4.ts'

export const FRAMES_PER_SECOND = 24

/** An MP4 file. The recording is repeated; an incomplete second is cut off. */
export function sampleVideo(recording: Recording, seconds: number): Uint8Array {
  const count = Math.max(1, Math.round(seconds * FRAMES_PER_SECOND))
  const keys = recording.keys.slice(0, Math.ceil(count / FRAMES_PER_SECOND)).map(unpack)
  const repeats = recording.repeats.split(' ').map(unpack)
  const frames: Track['frames'][number][] = []
  for (let at = 0; at < count; at += 1) {
    const inSecond = at % FRAMES_PER_SECOND
    const second = Math.floor(at / FRAMES_PER_SECOND)
    const unit = inSecond === 0 ? keys[second % keys.length] : repeats[inSecond - 1]
    if (unit === undefined) throw new Error('every second has its pictures')
    frames.push({ key: inSecond === 0, unit })
  }
  const { width, height } = recording
  return muxMp4({
    width,
    height,
    configuration: unpack(recording.configuration),
    framesPerSecond: FRAMES_PER_SECOND,
    frames,
  })
}

/** The bytes of a recorded frame, as `recordings.ts` writes them. */
function unpack(recorded: string): Uint8Array {
  return join(
    recorded.split(' ').flatMap((piece) => {
      const [text = '', times = '1'] = piece.split('*')
      const bytes = decodeBase64Bytes(text)
      if (bytes === undefined) throw new Error('recordings are base64')
      return Array.from({ length: Number(times) }, () => bytes)
    }),
  )
}
