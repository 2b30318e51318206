import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { type Task, tasksQuery } from '../../api/operator/videos.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { TwoLines, useActionsColumn, useTimeColumn } from '../../parts/lists/columns.tsx'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { choiceField, present } from '../../parts/lists/search-fields.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { FoundList, rowsOf } from '../parts/found-list.tsx'
import { useAddress } from '../parts/use-address.ts'
import { TaskActions } from './task-actions.tsx'
import { TaskSheet } from './task-sheet.tsx'
import { TASK_STATES, TaskState } from './task-state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const SHOWN = ['open', 'all'] as const

/** Running and finished video tasks. */
export function VideosPage() {
  const { t } = useTranslation()
  const [{ tab, state }] = useAddress()
  const columns = useColumns()
  const tasks = useInfiniteQuery({
    ...tasksQuery(
      present({ show: choiceField(tab, SHOWN) ?? 'open', status: choiceField(state, TASK_STATES) }),
    ),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHead title={t('operate.pages.videos')} lead={t('videos.lead')} />
      <TaskFilters />
      <FoundList
        query={tasks}
        height={480}
        none={{ icon: 'play', title: t('videos.none'), hint: t('videos.noneHint') }}
        label={t('operate.pages.videos')}
        columns={columns}
        rows={rowsOf(tasks)}
        idOf={({ id }) => id}
        sheet={({ row, close }) => row !== undefined && <TaskSheet of={row} onClose={close} />}
      />
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
  const time = useTimeColumn<Task>(({ created_at: at }) => at, { wide: true })
  const actions = useActionsColumn<Task>((task) => <TaskActions of={task} />)
  return [
    time,
    {
      id: 'model',
      head: t('calls.model'),
      cell: ({ model, vendor_code: vendor, id }) => (
        <TwoLines first={model} second={vendor === null ? id : `${vendor} · ${id}`} />
      ),
    },
    { id: 'state', head: t('operate.state'), cell: (task) => <TaskState of={task} /> },
    {
      id: 'progress',
      head: t('videos.progress'),
      kind: 'number',
      wide: true,
      cell: ({ progress }) => format.percent(progress / 100),
    },
    {
      id: 'next',
      head: t('videos.nextLook'),
      kind: 'muted',
      wide: true,
      cell: ({ next_look_at: at }) => (at === null ? '–' : format.time(at)),
    },
    {
      id: 'seconds',
      head: t('videos.billed'),
      kind: 'number',
      wide: true,
      cell: ({ seconds_billed: seconds }) => format.number(seconds, 2),
    },
    actions,
  ]
}
