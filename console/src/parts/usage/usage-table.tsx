import { LimitBar } from '../limits/limit-bar.tsx'
import { type Column, DataTable } from '../lists/data-table.tsx'
import table from '../lists/table.module.css'
import { Amount } from '../values/amount.tsx'
import { useFormat } from '../values/format.ts'
import { measureOf, type Row, type Sums, shareOf, sumsOf } from './measures.ts'
import type { Group, Measure, UsageSearch } from './search.ts'
import styles from './usage.module.css'
import { type Groups, OTHERS } from './groups.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface Line extends Sums {
  readonly id: string
  /** The value of the chosen measure. */
  readonly value: number
  readonly share: number
}

interface UsageTableProps {
  readonly rows: readonly Row[]
  readonly search: UsageSearch
  readonly groups: Groups
  /** Opens the calls of a group; undefined: the log cannot filter by it. */
  readonly onChoose: ((id: string) => void) | undefined
}

/** Usage by group; a click opens the group's calls. */
export function UsageTable({ rows, search, groups, onChoose }: UsageTableProps) {
  const { by = 'model', measure = 'credits' } = search
  const { t } = useTranslation()
  const columns = useColumns(by, groups)
  const choose = ({ id }: Line): void => {
    if (id !== '' && id !== OTHERS) onChoose?.(id)
  }
  return (
    <DataTable
      label={t('usage.table', { by: t(`usage.groups.${by}`) })}
      columns={columns}
      rows={linesOf(rows, measure, groups)}
      idOf={({ id }) => id}
      {...(onChoose === undefined ? {} : { onChoose: choose })}
    />
  )
}

function linesOf(rows: readonly Row[], measure: Measure, { idOf }: Groups): readonly Line[] {
  const lines = [...Map.groupBy(rows, idOf)].map(([id, own]) => ({
    id,
    ...sumsOf(own),
    value: own.reduce((sum, row) => sum + Number(measureOf(row, measure)), 0),
  }))
  const whole = lines.reduce((sum, { value }) => sum + value, 0)
  return lines
    .map((line) => ({ ...line, share: shareOf(line.value, whole) }))
    .toSorted((one, other) => other.value - one.value)
}

function useColumns(by: Group, groups: Groups): readonly Column<Line>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'name',
      head: t(`usage.groups.${by}`),
      cell: ({ id, share }) => (
        <span className={styles.name}>
          {groups.nameOf(id)}
          <LimitBar used={share} full="fine" label={t('usage.share', { share: format.percent(share, 1) })} />
        </span>
      ),
    },
    { id: 'credits', head: 'Credits', kind: 'number', cell: ({ credits }) => <Amount value={credits} /> },
    {
      id: 'calls',
      head: t('usage.measures.calls'),
      kind: 'number',
      cell: ({ calls }) => format.number(calls),
    },
    {
      id: 'failed',
      head: t('usage.measures.failed'),
      kind: 'number',
      wide: true,
      cell: ({ calls, failed }) =>
        failed === 0 ? (
          <span className={table.muted}>–</span>
        ) : (
          <span title={format.number(failed)}>{format.percent(shareOf(failed, calls), 1)}</span>
        ),
    },
    ...useTokenColumns(),
  ]
}

function useTokenColumns(): readonly Column<Line>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const short = (value: number) => <span title={format.number(value)}>{format.short(value)}</span>
  return [
    { id: 'input', head: t('usage.input'), kind: 'number', wide: true, cell: ({ input }) => short(input) },
    {
      id: 'cached',
      head: t('usage.measures.cached'),
      kind: 'number',
      wide: true,
      cell: ({ input, cached }) => (
        <span title={format.number(cached)}>{format.percent(shareOf(cached, input), 1)}</span>
      ),
    },
    {
      id: 'output',
      head: t('usage.output'),
      kind: 'number',
      wide: true,
      cell: ({ output }) => short(output),
    },
  ]
}
