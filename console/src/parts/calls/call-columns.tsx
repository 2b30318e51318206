import type { Call } from '../../api/calls.ts'
import { useTimeColumn } from '../lists/columns.tsx'
import type { Column } from '../lists/data-table.tsx'
import { useFormat } from '../values/format.ts'
import { Cost } from './cost.tsx'
import { Ending } from './ending.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Columns shared by all tables of calls; on a phone only the cost. */
export function useCallColumns(): Readonly<Record<'time' | 'cost' | 'took' | 'ending', Column<Call>>> {
  const { t } = useTranslation()
  const format = useFormat()
  return {
    time: useTimeColumn<Call>(({ created_at: at }) => at, { wide: true }),
    cost: { id: 'cost', head: 'Credits', kind: 'number', cell: (call) => <Cost call={call} /> },
    took: {
      id: 'took',
      head: t('calls.took'),
      kind: 'number',
      wide: true,
      cell: ({ duration_ms }) => format.duration(duration_ms),
    },
    ending: { id: 'ending', head: t('calls.ending'), wide: true, cell: (call) => <Ending call={call} /> },
  }
}
