import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type Task, tasksQuery } from '../../api/operator/videos.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { choiceField, present } from '../../parts/lists/search-fields.ts'
import table from '../../parts/lists/table.module.css'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { MoreRows } from '../parts/more-rows.tsx'
import { useAddress } from '../parts/use-address.ts'
import { TaskActions } from './task-actions.tsx'
import { TaskSheet } from './task-sheet.tsx'
import { TASK_STATES, TaskState } from './task-state.tsx'

const SHOWN = ['open', 'all'] as const

/** The tasks that run at vendors, and those that ended. */
export function VideosPage() {
  const { t } = useTranslation()
  const [{ tab, state, open }, change] = useAddress()
  const columns = useColumns()
  const tasks = useInfiniteQuery({
    ...tasksQuery(
      present({ show: choiceField(tab, SHOWN) ?? 'open', status: choiceField(state, TASK_STATES) }),
    ),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  })
  const rows = tasks.data?.pages.flatMap(({ data }) => data) ?? []
  const opened = rows.find(({ id }) => id === open)
  return (
    <>
      <PageHead title={t('operate.pages.videos')} lead={t('videos.lead')} />
      <TaskFilters />
      <Loaded query={tasks} height={480}>
        {() =>
          rows.length === 0 ? (
            <Empty icon="play" title={t('videos.none')}>
              {t('videos.noneHint')}
            </Empty>
          ) : (
            <>
              <DataTable
                label={t('operate.pages.videos')}
                columns={columns}
                rows={rows}
                idOf={({ id }) => id}
                chosen={open}
                onChoose={({ id }) => change({ open: id }, 'push')}
              />
              <MoreRows query={tasks} />
            </>
          )
        }
      </Loaded>
      {opened !== undefined && <TaskSheet of={opened} onClose={() => change({ open: undefined })} />}
    </>
  )
}

function TaskFilters() {
  const { t } = useTranslation()
  const [{ tab, state }, change] = useAddress()
  return (
    <Filters>
      <Filter
        always
        label={t('videos.shown')}
        value={choiceField(tab, SHOWN) ?? 'open'}
        options={SHOWN.map((value) => ({ value, label: t(`videos.show.${value}`) }))}
        onChange={(value) => change({ tab: value })}
      />
      <Filter
        label={t('operate.state')}
        value={choiceField(state, TASK_STATES)}
        options={TASK_STATES.map((value) => ({ value, label: t(`videos.states.${value}`) }))}
        onChange={(value) => change({ state: value })}
      />
    </Filters>
  )
}

function useColumns(): readonly Column<Task>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'time',
      head: t('calls.time'),
      kind: 'muted',
      cell: ({ created_at: at }) => <span title={format.moment(at)}>{format.recent(at)}</span>,
    },
    {
      id: 'model',
      head: t('calls.model'),
      cell: ({ model, vendor_code: vendor, id }) => (
        <>
          <span className={table.first}>{model}</span>
          <span className={table.second}>{vendor === null ? id : `${vendor} · ${id}`}</span>
        </>
      ),
    },
    { id: 'state', head: t('operate.state'), cell: (task) => <TaskState of={task} /> },
    {
      id: 'progress',
      head: t('videos.progress'),
      kind: 'number',
      cell: ({ progress }) => format.percent(progress / 100),
    },
    {
      id: 'next',
      head: t('videos.nextLook'),
      kind: 'muted',
      cell: ({ next_look_at: at }) => (at === null ? '–' : format.time(at)),
    },
    {
      id: 'seconds',
      head: t('videos.billed'),
      kind: 'number',
      cell: ({ seconds_billed: seconds }) => format.number(seconds, 2),
    },
    {
      id: 'actions',
      head: <span className={table.unseen}>{t('actions')}</span>,
      kind: 'actions',
      cell: (task) => <TaskActions of={task} />,
    },
  ]
}
