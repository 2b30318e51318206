/**
 * Stored responses: read, listed, deleted. Answered from where a response is stored: this gateway, or the upstream it
 * came from. Only the key that made it may read it (docs/decisions/0007-kept-responses.md).
 */
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { ItemPage } from '../core/protocols/responses/answer/stored-turn.ts'
import type { StoredTurn } from '../storage/stores/turns.ts'
import { authenticate, checkKey, findHolderNow } from './stages/authenticate.ts'
import {
  type AuthenticatedCall,
  type IncomingCall,
  STORED_ACTIONS,
  type StagedCall,
  type StoredRequest,
} from './call.ts'
import type { Asked } from './kinds/kind.ts'
import {
  answerBackground,
  isBackground,
  type ServeStoredBackgroundParts,
} from './background/serve-stored-background.ts'
import { forwardStored } from './attempt/forward-stored.ts'
import type { ShowTask } from './lanes/threads/work.ts'
import type { Pipeline } from './context.ts'
import { refuse, type RefuseParts } from './stages/refuse.ts'
import type { ClientReply } from './reply.ts'
import { showStored } from './stored/show-stored.ts'
import type { StoredAnswer } from './stored/stored-answer.ts'

type ServeStoredParts = ServeStoredBackgroundParts & RefuseParts & Pick<Pipeline, 'refuseWhenUnable'>

export async function serveStored(
  pipeline: ServeStoredParts,
  incoming: IncomingCall,
  reply: ClientReply,
  asked: Asked,
): Promise<void> {
  let call: StagedCall = incoming
  const wanted = requestOf(asked)
  try {
    pipeline.refuseWhenUnable()
    call = await authenticate(pipeline, call)
    await findHolderNow(pipeline, call.key.hash, call.at)
    checkKey(
      {
        key: call.key,
        account: call.account,
        address: call.address,
        ip: call.ip,
        protocol: call.endpoint.protocol,
      },
      call.catalogue,
    )
    const turn = await pipeline.turns.find(call.key.id, wanted.id, call.at)
    if (turn === undefined) throw notFound(wanted.id)
    reply.setModel(turn.modelId)
    const { status, body } = await (isBackground(turn)
      ? answerBackground(pipeline, call, { turn, wanted })
      : answerOf(pipeline, call, { turn, wanted }))
    send(reply, status, body)
  } catch (error) {
    await refuse(pipeline, call, error, reply)
  }
}

function requestOf({ action, values, query }: Asked): StoredRequest {
  const what = STORED_ACTIONS.find((known) => known === action)
  if (what === undefined) throw new Error(`the path of a stored response names ${action ?? 'nothing'}`)
  return { id: values['id'] ?? '', what, query }
}

interface Wanted {
  readonly turn: StoredTurn
  readonly wanted: StoredRequest
}

async function answerOf(
  pipeline: ServeStoredParts,
  call: AuthenticatedCall,
  { turn, wanted }: Wanted,
): Promise<StoredAnswer> {
  const { content } = turn
  // Cancelling a finished response would only request its answer from the upstream.
  if (wanted.what === 'cancel')
    throw new GatewayError(40000, { message: 'only a background response can be cancelled' })
  if (content.kind === 'upstream') {
    const answer = await forwardStored(pipeline, call, { turn, pin: content, wanted })
    if (wanted.what === 'delete' && (answer.status === 200 || answer.status === 404)) {
      await pipeline.turns.remove(call.key.id, wanted.id)
    }
    return answer
  }
  switch (wanted.what) {
    case 'response':
      return { status: 200, body: await shown(pipeline, call, { kind: 'response', turn: content.body }) }
    case 'input-items':
      return {
        status: 200,
        body: await shown(pipeline, call, {
          kind: 'input-items',
          turn: content.body,
          page: pageOf(wanted.query),
        }),
      }
    case 'delete':
      if (!(await pipeline.turns.remove(call.key.id, wanted.id))) throw notFound(wanted.id)
      return { status: 200, body: { id: wanted.id, object: 'response', deleted: true } }
  }
}

async function shown(
  pipeline: Pick<Pipeline, 'conversions'>,
  call: AuthenticatedCall,
  of: ShowTask['of'],
): Promise<Uint8Array> {
  const { body } = await showStored(pipeline, call, of)
  if (body === undefined)
    throw new GatewayError(40000, { message: 'after: no item of the response has this id' })
  return body
}

const PAGE_DEFAULT = 20
const PAGE_MAX = 100

function pageOf(query: string): ItemPage {
  const parameters = new URLSearchParams(query)
  const order = parameters.get('order') ?? 'desc'
  const limit = Number(parameters.get('limit') ?? PAGE_DEFAULT)
  if (order !== 'asc' && order !== 'desc') {
    throw new GatewayError(40000, { message: 'order: must be asc or desc' })
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
    throw new GatewayError(40000, { message: `limit: must be a whole number from 1 to ${PAGE_MAX}` })
  }
  const after = parameters.get('after') ?? undefined
  return { order, limit, after }
}

function notFound(id: string): GatewayError {
  const shown = id.length > 80 ? `${id.slice(0, 80)}…` : id
  return new GatewayError(40400, { message: `the response ${JSON.stringify(shown)} was not found` })
}

function send(reply: ClientReply, status: number, body: StoredAnswer['body']): void {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  reply.start({ status, headers: { 'content-type': 'application/json' }, contentLength: bytes.byteLength })
  reply.write(bytes)
  reply.end()
}
