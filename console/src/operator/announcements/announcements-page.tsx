import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Notice, noticesQuery, removeNotice } from '../../api/operator/announcements.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { RowAction, useActionsColumn } from '../../parts/lists/columns.tsx'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { State } from '../../parts/marks/state.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useFormat } from '../../parts/values/format.ts'
import operator from '../parts/operator.module.css'
import { useAddress } from '../parts/use-address.ts'
import { NoticeForm } from './notice-form.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** In the address in place of an id while an announcement is written. */
const NEW = 'new'

/** Announcements on everybody's overview: current, future and past. */
export function NoticesPage() {
  const { t } = useTranslation()
  const [{ open }, , sheet] = useAddress()
  const notices = useQuery(noticesQuery)
  const write = (
    <Button leftSection={<Icon name="plus" />} onClick={() => sheet.open(NEW)}>
      {t('notices.add')}
    </Button>
  )
  const edited = notices.data?.find(({ id }) => id === open)
  return (
    <>
      <PageHead title={t('operate.pages.announcements')} lead={t('notices.lead')}>
        {write}
      </PageHead>
      <Loaded query={notices} height={320}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="bell" title={t('notices.none')} action={write}>
              {t('notices.noneHint')}
            </Empty>
          ) : (
            <List all={all} />
          )
        }
      </Loaded>
      {(open === NEW || edited !== undefined) && <NoticeForm key={open} of={edited} onClose={sheet.close} />}
    </>
  )
}

function List({ all }: { readonly all: readonly Notice[] }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [{ open }, , sheet] = useAddress()
  const [removing, ask] = useState<Notice>()
  const columns = useColumns(ask)
  return (
    <>
      <DataTable
        label={t('operate.pages.announcements')}
        columns={columns}
        rows={all}
        idOf={({ id }) => id}
        chosen={open}
        isQuiet={(notice) => stageOf(notice, Date.now()) === 'past'}
        onChoose={({ id }) => sheet.open(id)}
      />
      {removing !== undefined && (
        <Confirm
          title={t('notices.removeTitle')}
          action={t('notices.remove')}
          onClose={() => ask(undefined)}
          onConfirm={async () => {
            await removeNotice(removing.id)
            await queryClient.invalidateQueries({ queryKey: ['notices'] })
          }}
        >
          <Marked text={t('notices.removeText', { title: removing.title })} />
        </Confirm>
      )}
    </>
  )
}

const STAGES = {
  now: { icon: 'done', tone: 'good' },
  later: { icon: 'clock', tone: 'warn' },
  past: { icon: 'paused', tone: 'quiet' },
} as const

function stageOf({ starts_at: start, ends_at: end }: Notice, now: number): keyof typeof STAGES {
  if (Date.parse(start) > now) return 'later'
  return end !== null && Date.parse(end) <= now ? 'past' : 'now'
}

function Stage({ of }: { readonly of: Notice }) {
  const { t } = useTranslation()
  const stage = stageOf(of, Date.now())
  return <State {...STAGES[stage]}>{t(`notices.stages.${stage}`)}</State>
}

function useColumns(onRemove: (notice: Notice) => void): readonly Column<Notice>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'title',
      head: t('notices.one'),
      cell: ({ title, body }) => (
        <span className={operator.wrapped}>
          <span className={table.first}>{title}</span>
          <span className={table.second}>{body}</span>
        </span>
      ),
    },
    {
      id: 'level',
      head: t('notices.level'),
      kind: 'muted',
      cell: ({ level }) => t(`notices.levels.${level}`),
    },
    {
      id: 'stage',
      head: t('operate.state'),
      cell: (notice) => <Stage of={notice} />,
    },
    { id: 'from', head: t('notices.from'), kind: 'muted', cell: ({ starts_at: at }) => format.recent(at) },
    {
      id: 'until',
      head: t('notices.until'),
      kind: 'muted',
      cell: ({ ends_at: at }) => (at === null ? t('notices.open') : format.recent(at)),
    },
    useActionsColumn<Notice>((notice) => (
      <RowAction label={t('notices.removeOne', { title: notice.title })} onClick={() => onRemove(notice)}>
        {t('notices.remove')}
      </RowAction>
    )),
  ]
}
