/** What the usual sizes become at vendors that do not take them as they are; `-`: nothing, the vendor decides. */
import { describe, expect, test } from 'vitest'
import type { VideoRequest } from '../core/video/request.ts'
import { parseSize } from '../core/video/size.ts'
import { providerOf } from './index.ts'
import type { VideoDialect } from './video.ts'
import { PNG, submittedBody } from './video-forms/testing/order.ts'
import type { JsonObject, JsonValue } from '../core/json.ts'
import { objectAt, textIn } from './video-forms/json.ts'

interface Column {
  readonly kind: string
  readonly model: string
  /** With a first frame, where that is what the table is about. */
  readonly framed?: true
  readonly shown: (body: JsonObject) => readonly (JsonValue | undefined)[]
}

const COLUMNS: readonly Column[] = [
  {
    kind: 'dashscope',
    model: 'wan2.6-t2v',
    shown: ({ parameters }) => [objectAt(parameters)['size']],
  },
  {
    kind: 'dashscope',
    model: 'wan2.7-t2v',
    shown: ({ parameters }) => [objectAt(parameters)['ratio'], objectAt(parameters)['resolution']],
  },
  { kind: 'runway', model: 'gen4.5', framed: true, shown: ({ ratio }) => [ratio] },
  {
    kind: 'luma',
    model: 'ray-3.2',
    shown: ({ aspect_ratio, video }) => [aspect_ratio, objectAt(video)['resolution']],
  },
  { kind: 'zhipu', model: 'cogvideox-3', shown: ({ size }) => [size] },
  { kind: 'jimeng', model: 'jimeng_t2v_v30', shown: ({ aspect_ratio, req_key }) => [aspect_ratio, req_key] },
  {
    kind: 'xai',
    model: 'grok-imagine-video',
    shown: ({ aspect_ratio, resolution }) => [aspect_ratio, resolution],
  },
  {
    kind: 'xai',
    model: 'grok-imagine-video-1.5',
    shown: ({ aspect_ratio, resolution }) => [aspect_ratio, resolution],
  },
]

const T = 'jimeng_t2v_v30'
const F = 'jimeng_t2v_v30_1080p'

/** One cell a column. */
const TABLE: Readonly<Record<string, readonly string[]>> = {
  '1280x720': [
    '1280*720',
    '16:9 720P',
    '1280:720',
    '16:9 720p',
    '1280x720',
    `16:9 ${T}`,
    '16:9 720p',
    '16:9 720p',
  ],
  '720x1280': [
    '720*1280',
    '9:16 720P',
    '720:1280',
    '9:16 720p',
    '720x1280',
    `9:16 ${T}`,
    '9:16 720p',
    '9:16 720p',
  ],
  '1920x1080': [
    '1920*1080',
    '16:9 1080P',
    '1280:720',
    '16:9 1080p',
    '1920x1080',
    `16:9 ${F}`,
    '16:9 720p',
    '16:9 1080p',
  ],
  '1080x1920': [
    '1080*1920',
    '9:16 1080P',
    '720:1280',
    '9:16 1080p',
    '1080x1920',
    `9:16 ${F}`,
    '9:16 720p',
    '9:16 1080p',
  ],
  '1792x1024': [
    '1920*1080',
    '16:9 1080P',
    '1280:720',
    '16:9 1080p',
    '1920x1080',
    `16:9 ${F}`,
    '16:9 720p',
    '16:9 1080p',
  ],
  '1024x1792': [
    '1080*1920',
    '9:16 1080P',
    '720:1280',
    '9:16 1080p',
    '1080x1920',
    `9:16 ${F}`,
    '9:16 720p',
    '9:16 1080p',
  ],
  '1024x1024': [
    '960*960',
    '1:1 720P',
    '960:960',
    '1:1 720p',
    '1024x1024',
    `1:1 ${T}`,
    '1:1 720p',
    '1:1 720p',
  ],
  '960x960': ['960*960', '1:1 720P', '960:960', '1:1 720p', '1024x1024', `1:1 ${T}`, '1:1 720p', '1:1 720p'],
  '1440x1440': [
    '1440*1440',
    '1:1 1080P',
    '960:960',
    '1:1 1080p',
    '1024x1024',
    `1:1 ${F}`,
    '1:1 720p',
    '1:1 1080p',
  ],
  '854x480': [
    '832*480',
    '16:9 720P',
    '1280:720',
    '16:9 540p',
    '1280x720',
    `16:9 ${T}`,
    '16:9 480p',
    '16:9 480p',
  ],
  '480x854': [
    '480*832',
    '9:16 720P',
    '720:1280',
    '9:16 540p',
    '720x1280',
    `9:16 ${T}`,
    '9:16 480p',
    '9:16 480p',
  ],
  '1104x832': ['1088*832', '4:3 720P', '1104:832', '4:3 720p', '-', `4:3 ${T}`, '4:3 720p', '4:3 720p'],
  '832x1104': ['832*1088', '3:4 720P', '832:1104', '3:4 720p', '-', `3:4 ${T}`, '3:4 720p', '3:4 720p'],
  '1470x630': ['-', '- 720P', '1584:672', '21:9 720p', '-', `21:9 ${T}`, '21:9 720p', '21:9 720p'],
  '3840x2160': [
    '1920*1080',
    '16:9 1080P',
    '1280:720',
    '16:9 1080p',
    '3840x2160',
    `16:9 ${F}`,
    '16:9 720p',
    '16:9 1080p',
  ],
}

function dialectOf(kind: string): VideoDialect {
  const dialect = providerOf(kind)?.video
  if (dialect === undefined) throw new Error(`${kind} makes no videos`)
  return dialect
}

describe.each(Object.entries(TABLE))('%s', (size, cells) => {
  test.each(COLUMNS.map((column, at) => ({ ...column, cell: cells[at] })))(
    'is $cell for $model [4.4-27] [4.4-28]',
    ({ kind, model, framed, shown, cell }) => {
      const request: Partial<VideoRequest> = { size: parseSize(size), ...(framed ? { firstFrame: PNG } : {}) }
      const baseUrl = providerOf(kind)?.defaultBaseUrl ?? ''
      const body = submittedBody(dialectOf(kind), { model, baseUrl, request })
      expect(
        shown(body)
          .map((value) => textIn(value) ?? '-')
          .join(' '),
      ).toBe(cell)
    },
  )
})
