/** The pixel sizes that Seedance makes for a ratio and a resolution: its answers do not report them. */
import { rowOf } from '../video-forms/json.ts'

interface Made {
  readonly ratio: string | undefined
  readonly resolution: string | undefined
  /** 1.0 rounds differently from 1.5 and 2.0. */
  readonly generation: 'first' | 'later'
}

/** Landscape and square; a portrait ratio swaps width and height. */
const LATER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '480p': { '16:9': '864x496', '4:3': '752x560', '1:1': '640x640', '21:9': '992x432' },
  '720p': { '16:9': '1280x720', '4:3': '1112x834', '1:1': '960x960', '21:9': '1470x630' },
  '1080p': { '16:9': '1920x1080', '4:3': '1664x1248', '1:1': '1440x1440', '21:9': '2206x946' },
  '4k': { '16:9': '3840x2160', '4:3': '3326x2494', '1:1': '2880x2880', '21:9': '4398x1886' },
}
const FIRST: typeof LATER = {
  '480p': { '16:9': '864x480', '4:3': '736x544', '1:1': '640x640', '21:9': '960x416' },
  '720p': { '16:9': '1248x704', '4:3': '1120x832', '1:1': '960x960', '21:9': '1504x640' },
  '1080p': { '16:9': '1920x1088', '4:3': '1664x1248', '1:1': '1440x1440', '21:9': '2176x928' },
}

/** undefined: not known. */
export function pixelsOf({ ratio, resolution, generation }: Made): string | undefined {
  const table = rowOf(generation === 'first' ? FIRST : LATER, resolution?.toLowerCase() ?? '')
  if (table === undefined || ratio === undefined) return undefined
  const turned = (text: string, mark: string): string => text.split(mark).toReversed().join(mark)
  const upright = rowOf(table, turned(ratio, ':'))
  return rowOf(table, ratio) ?? (upright === undefined ? undefined : turned(upright, 'x'))
}
