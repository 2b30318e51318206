/**
 * Hailuo's two forms, distinguished by the model: H3 and later use `/v2`. The first returns a file id, and one more
 * request its link.
 */
import type { ForwardModelId } from '../../core/ids.ts'
import type { VideoContext, VideoDialect, VideoReply, VideoStep } from '../video.ts'
import { classify } from './failures.ts'
import { fileRequest, readFirst, submitFirst } from './video-first.ts'
import { readSecond, submitSecond } from './video-second.ts'

const DEFAULT_SECONDS = 6

export const minimaxVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => DEFAULT_SECONDS,
  submit: (input) =>
    isSecond(input.forwardModelId)
      ? submitSecond(input, DEFAULT_SECONDS)
      : submitFirst(input, DEFAULT_SECONDS),
  accepted: (reply, context) => read(reply, context, 'create'),
  step: (reply, context) => read(reply, context, 'poll'),
  classify,
  // A new link is made each time the file is requested.
  renew: (context) => fileRequest(context),
}

function read(reply: VideoReply, context: VideoContext, asked: 'create' | 'poll'): VideoStep {
  return isSecond(context.forwardModelId) ? readSecond(reply, context) : readFirst(reply, context, asked)
}

function isSecond(model: ForwardModelId): boolean {
  return /^minimax-h\d/i.test(model)
}
