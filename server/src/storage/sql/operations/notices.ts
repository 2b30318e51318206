import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Notice, NoticeStore } from '../../stores/notices.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import { pageLimit } from '../page.ts'
import type { NoticesTable, Schema } from '../schema.ts'

export function createNoticeStore(reader: Kysely<Schema>, write: AnnouncedWrite): NoticeStore {
  return {
    async list({ at, limit }) {
      let query = reader.selectFrom('notices').selectAll()
      if (at !== undefined) {
        const moment = BigInt(at)
        query = query
          .where('starts_at', '<=', moment)
          .where((where) => where.or([where('ends_at', 'is', null), where('ends_at', '>', moment)]))
      }
      const rows = await query
        .orderBy('starts_at', 'desc')
        .orderBy('id', 'desc')
        .limit(pageLimit(limit))
        .execute()
      return rows.map(decodeNotice)
    },

    async find(id) {
      const row = await reader.selectFrom('notices').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : decodeNotice(row)
    },

    put: (notice) =>
      write(async (transaction) => {
        const columns = columnsOf(notice)
        await transaction
          .insertInto('notices')
          .values(columns)
          .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
          .execute()
        return { value: undefined, changes: [] }
      }),

    remove: (id) =>
      write(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('notices')
          .where('id', '=', id)
          .executeTakeFirst()
        return { value: numDeletedRows === 1n, changes: [] }
      }),
  }
}

function columnsOf(notice: Notice): Insertable<NoticesTable> {
  return {
    id: notice.id,
    title: notice.title,
    body: notice.body,
    level: notice.level,
    starts_at: notice.startsAt,
    ends_at: notice.endsAt ?? null,
    created_at: notice.createdAt,
  }
}

function decodeNotice(row: Selectable<NoticesTable>): Notice {
  return {
    id: row.id,
    title: row.title,
    body: row.body,
    level: levelOf(row.level),
    startsAt: Number(row.starts_at),
    endsAt: row.ends_at === null ? undefined : Number(row.ends_at),
    createdAt: Number(row.created_at),
  }
}

function levelOf(text: string): Notice['level'] {
  if (text === 'info' || text === 'warning' || text === 'critical') return text
  throw new Error(`a stored announcement has the level ${text}`)
}
