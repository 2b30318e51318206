import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IncomingVideo } from '../../pipeline/video/video-call.ts'
import { incomingCall, type IncomingOptions } from './incoming.ts'
import { readForm } from './read-form.ts'

export interface IncomingVideoOptions extends IncomingOptions<IncomingVideo['endpoint']> {
  readonly action: IncomingVideo['action']
  readonly textBytesMax: number
}

/** A request to the video endpoints as the request pipeline takes it: its form still on the wire. */
export function incomingVideo(
  request: IncomingMessage,
  response: ServerResponse,
  options: IncomingVideoOptions,
): IncomingVideo {
  const { action, textBytesMax } = options
  const { readBody, ...rest } = incomingCall(request, response, options)
  return {
    ...rest,
    action,
    readForm: (onBytes) =>
      readForm({ contentType: request.headers['content-type'], readBody, onBytes, textBytesMax }),
  }
}
