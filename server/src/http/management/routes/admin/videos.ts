/** Video tasks of all accounts, for operators: listed, polled again, ended. */
import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { accountId, chainId, modelId } from '../../../../core/ids.ts'
import { failVideo, repollVideo, type VideoActing, viewVideo } from '../../../../management/logs/videos.ts'
import { definePage, defineRoute, type RouteContext } from '../../define-route.ts'
import { isoTime, pageQuery, nextCursor } from '../../answers/wire-values.ts'
import { actorOf, present } from './admin-route.ts'
import { statedReasonBody } from './bodies.ts'
import type { Api } from '../../api-context.ts'

const TAG = 'Admin: videos'
const PATH = '/api/v1/admin/videos'
const idParams = z.object({ id: z.string().min(1).max(128) })
const STATUSES = ['queued', 'in_progress', 'completed', 'failed'] as const

const videoShape = z.strictObject({
  id: z.string(),
  kind: z.enum(['video', 'response']).meta({
    description: '`response`: an answer made in the background (`background: true`).',
  }),
  created_at: isoTime,
  account_id: z.string(),
  key_id: z.string(),
  model: z.string(),
  chain_id: z.number().int().nullable(),
  vendor_code: z.string().nullable(),
  byok: z.boolean(),
  status: z.enum(STATUSES),
  phase: z.enum(['intent', 'sent', 'running', 'unknown', 'fetching', 'ended']).meta({
    description: '`unknown`: the vendor never answered the creation request, which is not sent again.',
  }),
  progress: z.number().meta({ description: 'Percent.' }),
  polls: z.number().int(),
  failures_in_row: z.number().int(),
  next_look_at: isoTime.nullable().meta({ description: 'null: it has ended.' }),
  last_answer: z.string().nullable().meta({ description: 'The vendor’s last answer.' }),
  seconds: z.string(),
  seconds_billed: z.number(),
  completed_at: isoTime.nullable(),
  expires_at: isoTime,
  error: z.strictObject({ status: z.number().int(), code: z.string(), message: z.string() }).nullable(),
})

const listQuery = z.strictObject({
  ...pageQuery({ rowsDefault: 50, rowsMax: 200 }),
  show: z.enum(['open', 'all']).default('open').meta({
    description: '`open`: tasks that have not ended, oldest first. `all`: those kept, newest first.',
  }),
  account_id: z.string().max(128).optional(),
  model: z.string().max(512).optional(),
  status: z.enum(STATUSES).optional(),
  chain_id: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
})

export function adminVideoRoutes(app: Api, context: RouteContext): void {
  listRoute(app, context)
  readRoute(app, context)
  repollRoute(app, context)
  failRoute(app, context)
}

function listRoute(app: Api, context: RouteContext): void {
  const { videos } = context.storage
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List video tasks of all accounts',
    query: listQuery,
    row: videoShape,
    handle: async ({ query }) => {
      const { limit, cursor: after, status, ...wanted } = query
      const tasks = await videos.list({
        ...(wanted.account_id === undefined ? {} : { accountId: accountId(wanted.account_id) }),
        ...(wanted.model === undefined ? {} : { modelId: modelId(wanted.model) }),
        ...(wanted.chain_id === undefined ? {} : { chainId: chainId(wanted.chain_id) }),
        ...(status === undefined ? {} : { status }),
        open: wanted.show === 'open',
        order: wanted.show === 'open' ? 'asc' : 'desc',
        limit,
        after,
      })
      return { rows: tasks.map(viewVideo), next: nextCursor(tasks, limit) }
    },
  })
}

function readRoute(app: Api, context: RouteContext): void {
  const { videos } = context.storage
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Read a video task',
    params: idParams,
    data: videoShape,
    handle: async ({ params }) => viewVideo(present(await videos.read(params.id))),
  })
}

function repollRoute(app: Api, context: RouteContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/repoll`,
    access: 'admin',
    tag: TAG,
    summary: 'Poll the vendor for a video task now',
    description:
      'The instance that holds the task asks its vendor next. Refused with 40900 once it has ended.',
    params: idParams,
    errors: [40900],
    data: videoShape,
    handle: async ({ params, caller, request }) =>
      answerOf(await repollVideo(context.storage, params.id, actorOf(context, { caller, request }))),
  })
}

function failRoute(app: Api, context: RouteContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/fail`,
    access: 'admin',
    tag: TAG,
    summary: 'Give up a video task',
    description:
      'It ends as failed, its hold is released and nothing is charged. Its customer is shown the reason. Refused with 40900 once it has ended.',
    params: idParams,
    body: statedReasonBody,
    errors: [40900],
    data: videoShape,
    handle: async ({ params, body: { reason }, caller, request }) => {
      const actor = actorOf(context, { caller, request })
      return answerOf(await failVideo(context.storage, params.id, { actor, reason }))
    },
  })
}

function answerOf(acting: VideoActing): z.output<typeof videoShape> {
  switch (acting.kind) {
    case 'done':
      return viewVideo(acting.task)
    case 'missing':
      throw new GatewayError(40403)
    case 'ended':
      throw new GatewayError(40900, { message: say('task-ended', { status: acting.task.status }) })
    case 'without-call':
      throw new GatewayError(40900, {
        message: say('task-without-call'),
      })
  }
}
