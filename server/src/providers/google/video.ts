/** Videos on the Gemini API: Veo, and its successor Omni. Files need the key; sound is always on. */
import { classifyFailure } from '../../core/routing/failure.ts'
import { below } from '../provider.ts'
import type { VideoContext, VideoDialect, VideoReply, VideoStep } from '../video.ts'
import { getJson, linkIn, objectAt, postJson, textIn } from '../video-forms/json.ts'
import { firstOf, readOperation, VEO_DEFAULT_SECONDS, veoForm } from '../video-forms/veo.ts'
import { fileResult } from './file-result.ts'
import { isOmni, readOmni, SAFETY_WORDS, submitOmni } from './omni.ts'

const POLL_MS = 10_000

export const googleVideo: VideoDialect = {
  auth: { kind: 'header', name: 'x-goog-api-key' },
  imageForms: ['bytes'],
  defaultSeconds: () => VEO_DEFAULT_SECONDS,
  submit(input) {
    if (isOmni(input.forwardModelId)) return submitOmni(input, VEO_DEFAULT_SECONDS)
    const { body, dropped } = veoForm(input)
    const model = encodeURIComponent(input.forwardModelId)
    const url = below(input.baseUrl, `/models/${model}:predictLongRunning`)
    return { request: postJson(url, body), state: {}, dropped }
  },
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure, SAFETY_WORDS),
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  return isOmni(context.forwardModelId) ? readOmni(reply, context) : readVeo(reply, context)
}

function readVeo(reply: VideoReply, context: VideoContext): VideoStep {
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
