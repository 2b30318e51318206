/** Veo on the Gemini API. Its files want the key; sound is always on; a filtered video is reported as finished. */
import { classifyFailure } from '../../core/routing/failure.ts'
import { below } from '../provider.ts'
import type { VideoContext, VideoDialect, VideoReply, VideoResult, VideoStep } from '../video.ts'
import { getJson, postJson } from '../video-forms/json-request.ts'
import { linkIn, objectAt, originOf, textIn } from '../video-forms/read.ts'
import { firstOf, readOperation, VEO_DEFAULT_SECONDS, veoForm } from '../video-forms/veo.ts'
import { defaultBaseUrl } from './address.ts'

const POLL_MS = 10_000
const LINK_MS = 48 * 3_600_000

export const googleVideo: VideoDialect = {
  auth: () => ({ kind: 'header', name: 'x-goog-api-key' }),
  imageForms: ['bytes'],
  defaultSeconds: () => VEO_DEFAULT_SECONDS,
  submit(input) {
    const { body, dropped } = veoForm(input)
    const model = encodeURIComponent(input.forwardModelId)
    const url = below(input.baseUrl, `/models/${model}:predictLongRunning`)
    return { request: postJson(url, body), state: {}, dropped }
  },
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure),
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  return readOperation(reply, context, {
    poll: (name) => getJson(below(context.baseUrl, `/${name.replace(/^\/+/, '')}`)),
    afterMs: POLL_MS,
    resultIn(response) {
      const inner = objectAt(response, 'generateVideoResponse')
      return firstOf(inner['generatedSamples'] ?? inner['generatedVideos'], (sample) => {
        const video = objectAt(sample, 'video')
        const data = textIn(video['bytesBase64Encoded'])
        if (data !== undefined) {
          return { kind: 'base64', data, mediaType: textIn(video['mimeType']) ?? 'video/mp4' }
        }
        const url = linkIn(video['uri'])
        return url === undefined ? undefined : fileResult(url, context.baseUrl)
      })
    },
  })
}

/** The key goes to the API's own address only; where that is an operator's proxy, the file is fetched through it. */
function fileResult(uri: string, baseUrl: string): VideoResult {
  const url = uri.startsWith(`${defaultBaseUrl}/`) ? below(baseUrl, uri.slice(defaultBaseUrl.length)) : uri
  if (originOf(url) !== originOf(baseUrl)) return { kind: 'link', url, lastsMs: LINK_MS }
  return { kind: 'download', request: { method: 'GET', url, headers: {} } }
}
