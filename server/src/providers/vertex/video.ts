/** Veo on Vertex AI: operations are polled with a POST; videos come as bytes or are in the operator's bucket. */
import type { JsonObject } from '../../core/json.ts'
import { classifyFailure } from '../../core/routing/failure.ts'
import type { VideoContext, VideoDialect, VideoReply, VideoResult, VideoStep } from '../video.ts'
import { postJson, textIn } from '../video-forms/json.ts'
import { firstOf, readOperation, VEO_DEFAULT_SECONDS, veoForm } from '../video-forms/veo.ts'
import { type ModelPlace, modelUrl } from './address.ts'

const POLL_MS = 15_000

export const vertexVideo: VideoDialect = {
  auth: { kind: 'google-oauth' },
  imageForms: ['bytes'],
  defaultSeconds: () => VEO_DEFAULT_SECONDS,
  submit(input) {
    const { request, fields } = input
    const bucket = fields['storage_uri']
    const { body, dropped } = veoForm(input, {
      more: {
        generate_audio: { generateAudio: request.generateAudio },
        seed: { seed: request.seed },
        prompt_extend: { enhancePrompt: request.promptExtend },
      },
      always: { sampleCount: 1, ...(bucket === undefined ? {} : { storageUri: bucket }) },
    })
    return { request: postJson(`${veoUrl(input)}:predictLongRunning`, body), state: {}, dropped }
  },
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure),
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  return readOperation(reply, context, {
    poll: (name) => postJson(`${veoUrl(context)}:fetchPredictOperation`, { operationName: name }),
    afterMs: POLL_MS,
    resultIn: (response) => firstOf(response['videos'], resultOf),
  })
}

function resultOf(video: JsonObject): VideoResult | undefined {
  const data = textIn(video['bytesBase64Encoded'])
  if (data !== undefined) {
    return { kind: 'base64', data, mediaType: textIn(video['mimeType']) ?? 'video/mp4' }
  }
  const url = objectUrl(textIn(video['gcsUri']))
  return url === undefined ? undefined : { kind: 'download', request: { method: 'GET', url, headers: {} } }
}

/** The address at which Cloud Storage's JSON API serves an object's bytes. */
function objectUrl(uri: string | undefined): string | undefined {
  const found = /^gs:\/\/([^/]+)\/(.+)$/.exec(uri ?? '')
  if (found === null) return undefined
  const [bucket = '', object = ''] = [found[1], found[2]]
  return `https://storage.googleapis.com/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(object)}?alt=media`
}

function veoUrl(place: ModelPlace): string {
  const url = modelUrl(place, 'google')
  if (url === undefined) throw new Error('the credential names no project or no region')
  return url
}
