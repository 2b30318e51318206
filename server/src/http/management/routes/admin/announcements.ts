/** Announcements to customers: written by admins, readable by all. */
import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { compareForms, fieldsOfNew } from '../../../../management/gateway-file/difference.ts'
import { timeOrderedId } from '../../../../management/new-id.ts'
import type { Notice } from '../../../../storage/stores/notices.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { refuseFields } from '../../requests/request-fields.ts'
import { instantText, isoTime } from '../../answers/wire-values.ts'
import { actorOf, present } from './admin-route.ts'
import type { Api } from '../../api-context.ts'

const TAG = 'Admin: announcements'
const PATH = '/api/v1/admin/announcements'
const LIST_ROWS_MAX = 200
/** Announcements shown to customers at once. */
const SHOWN_MAX = 20

const level = z.enum(['info', 'warning', 'critical'])
const noticeShape = z.strictObject({
  id: z.string(),
  title: z.string(),
  body: z.string().meta({ description: 'Plain text.' }),
  level,
  starts_at: isoTime,
  ends_at: isoTime.nullable(),
  created_at: isoTime,
})
const fields = {
  title: z.string().min(1).max(200),
  body: z.string().min(1).max(10_000),
  level: level.default('info'),
  starts_at: instantText.optional(),
  ends_at: instantText.nullable().optional(),
}
const idParams = z.object({ id: z.string().min(1).max(128) })

export function announcementRoutes(app: Api, context: RouteContext): void {
  shownRoute(app, context)
  listRoute(app, context)
  addRoute(app, context)
  changeRoute(app, context)
  removeRoute(app, context)
}

function shownRoute(app: Api, context: RouteContext): void {
  const { notices } = context.storage
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/announcements',
    access: 'anonymous',
    tag: 'Announcements',
    summary: 'List the current announcements of the operator',
    data: z.array(noticeShape),
    handle: async () => (await notices.list({ at: context.now(), limit: SHOWN_MAX })).map(viewNotice),
  })
}

function listRoute(app: Api, context: RouteContext): void {
  const { notices } = context.storage
  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List announcements, past and future ones too',
    data: z.array(noticeShape),
    handle: async () => (await notices.list({ limit: LIST_ROWS_MAX })).map(viewNotice),
  })
}

function addRoute(app: Api, context: RouteContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'Create an announcement',
    body: z.strictObject(fields),
    status: 201,
    data: noticeShape,
    handle: async ({ body, caller, request }) => {
      const actor = actorOf(context, { caller, request })
      const notice: Notice = {
        id: `ntc_${timeOrderedId(actor.at)}`,
        title: body.title,
        body: body.body,
        level: body.level,
        startsAt: body.starts_at ?? actor.at,
        endsAt: body.ends_at ?? undefined,
        createdAt: actor.at,
      }
      refuseBackwards(notice)
      await context.storage.audit.act(async (stores) => {
        await stores.notices.put(notice)
        const changes = fieldsOfNew({ ...viewNotice(notice) }).map(({ field, to }) => ({
          field,
          from: null,
          to,
        }))
        const act = { at: actor.at, actor, action: 'announcement.create', subject: notice.id, changes }
        return { value: undefined, act }
      })
      return viewNotice(notice)
    },
  })
}

function changeRoute(app: Api, context: RouteContext): void {
  const { notices } = context.storage
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Change an announcement',
    params: idParams,
    body: z.strictObject({ ...fields, level }).partial(),
    data: noticeShape,
    handle: async ({ params, body, caller, request }) => {
      const actor = actorOf(context, { caller, request })
      const before = present(await notices.find(params.id))
      const after: Notice = {
        ...before,
        title: body.title ?? before.title,
        body: body.body ?? before.body,
        level: body.level ?? before.level,
        startsAt: body.starts_at ?? before.startsAt,
        endsAt: body.ends_at === undefined ? before.endsAt : (body.ends_at ?? undefined),
      }
      refuseBackwards(after)
      const changes = compareForms({ ...viewNotice(before) }, { ...viewNotice(after) }).map(
        ({ field, from, to }) => ({ field, from: from ?? null, to }),
      )
      await context.storage.audit.act(async (stores) => {
        await stores.notices.put(after)
        const act = { at: actor.at, actor, action: 'announcement.change', subject: after.id, changes }
        return { value: undefined, act: changes.length === 0 ? undefined : act }
      })
      return viewNotice(after)
    },
  })
}

function removeRoute(app: Api, context: RouteContext): void {
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Remove an announcement',
    params: idParams,
    data: z.strictObject({ removed: z.literal(true) }),
    handle: async ({ params: { id }, caller, request }) => {
      const actor = actorOf(context, { caller, request })
      const removed = await context.storage.audit.act(async (stores) => {
        const notice = await stores.notices.find(id)
        if (notice === undefined) return { value: false, act: undefined }
        await stores.notices.remove(id)
        const changes = [{ field: 'title', from: notice.title, to: null }]
        const act = { at: actor.at, actor, action: 'announcement.remove', subject: id, changes }
        return { value: true, act }
      })
      if (!removed) throw new GatewayError(40403)
      return { removed: true } as const
    },
  })
}

function refuseBackwards({ startsAt, endsAt }: Notice): void {
  if (endsAt !== undefined && endsAt <= startsAt)
    throw refuseFields([{ in: 'body', path: 'ends_at', message: say('after-starts-at') }])
}

function viewNotice(notice: Notice): z.output<typeof noticeShape> {
  return {
    id: notice.id,
    title: notice.title,
    body: notice.body,
    level: notice.level,
    starts_at: new Date(notice.startsAt).toISOString(),
    ends_at: notice.endsAt === undefined ? null : new Date(notice.endsAt).toISOString(),
    created_at: new Date(notice.createdAt).toISOString(),
  }
}
