/** A vendor that answers in the background, on the far side of the network: what tests play of it, and what it was asked. */
import type { ServerResponse } from 'node:http'
import type { Answerer, ReceivedRequest, ScriptedUpstream } from './scripted-upstream.ts'

export interface MadeResponse {
  readonly id: string
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'
  readonly input: unknown
  /** Tokens of input and output; undefined: it tells none. */
  usage: { readonly input: number; readonly output: number } | undefined
  text: string
  /** Times it was read. */
  reads: number
  cancels: number
}

export interface BackgroundVendor {
  readonly made: MadeResponse[]
  /** What the next create calls, reads and cancellations get instead, one each. */
  readonly createWith: Answerer[]
  readonly readWith: Answerer[]
  readonly cancelWith: Answerer[]
  finish(response: MadeResponse, end?: Partial<MadeResponse>): void
}

export const ANSWER = 'the whole expensive answer'

export function playBackground(upstream: ScriptedUpstream): BackgroundVendor {
  const made: MadeResponse[] = []
  const vendor: BackgroundVendor = {
    made,
    createWith: [],
    readWith: [],
    cancelWith: [],
    finish(response, end = {}) {
      Object.assign(response, {
        status: 'completed',
        text: ANSWER,
        usage: { input: 100, output: 1_000 },
        ...end,
      })
    },
  }
  upstream.answer((request, response) => {
    const [, id, below] = /\/responses(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(request.path) ?? []
    if (request.method === 'POST' && id === undefined) return create(vendor, request, response)
    const found = made.find((one) => one.id === id)
    if (request.method === 'POST' && below === 'cancel') {
      const instead = vendor.cancelWith.shift()
      if (instead !== undefined) return instead(request, response)
      if (found !== undefined) {
        found.cancels += 1
        if (found.status === 'queued' || found.status === 'in_progress') found.status = 'cancelled'
      }
      return send(response, found)
    }
    if (request.method === 'DELETE') return json(response, 200, { id, object: 'response', deleted: true })
    if (below === 'input_items') return json(response, 200, { object: 'list', data: [] })
    const instead = vendor.readWith.shift()
    if (instead !== undefined) return instead(request, response)
    if (found !== undefined) found.reads += 1
    return send(response, found)
  })
  return vendor
}

function create(
  vendor: BackgroundVendor,
  request: ReceivedRequest,
  response: ServerResponse,
): void | Promise<void> {
  const instead = vendor.createWith.shift()
  if (instead !== undefined) return instead(request, response)
  const { input, background } = request.json() as { input: unknown; background?: unknown }
  const one: MadeResponse = {
    id: `resp_up_${vendor.made.length}_${Math.random().toString(36).slice(2)}`,
    status: 'queued',
    input,
    usage: undefined,
    text: '',
    reads: 0,
    cancels: 0,
  }
  vendor.made.push(one)
  if (background !== true) vendor.finish(one)
  return send(response, one)
}

export function objectOf(one: MadeResponse): object {
  const content = [{ type: 'output_text', text: one.text, annotations: [] }]
  return {
    id: one.id,
    object: 'response',
    created_at: 1,
    background: true,
    status: one.status,
    model: 'gpt-4.1-upstream',
    error: one.status === 'failed' ? { code: 'server_error', message: 'the kiln broke' } : null,
    output:
      one.text === ''
        ? []
        : [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
    usage:
      one.usage === undefined
        ? null
        : {
            input_tokens: one.usage.input,
            output_tokens: one.usage.output,
            total_tokens: one.usage.input + one.usage.output,
          },
  }
}

function send(response: ServerResponse, one: MadeResponse | undefined): void {
  if (one === undefined)
    json(response, 404, { error: { message: 'no such response', type: 'invalid_request_error' } })
  else json(response, 200, objectOf(one))
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
