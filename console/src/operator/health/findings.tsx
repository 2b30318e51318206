import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { type Finding, findingsQuery } from '../../api/operator/health.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { State } from '../../parts/marks/state.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import operator from '../parts/operator.module.css'

/** The gateway keeps what it found for so long. */
const LOOK_MS = 60_000
const ORDER = ['failed', 'warning', 'skipped', 'ok'] as const
const SIGNS = {
  ok: { icon: 'done', tone: 'good' },
  warning: { icon: 'warning', tone: 'warn' },
  failed: { icon: 'failed', tone: 'bad' },
  skipped: { icon: 'paused', tone: 'quiet' },
} as const

/** What `sluice doctor` finds of a gateway that runs: the worst first, each with what to do. */
export function Findings() {
  const { t } = useTranslation()
  const columns = useColumns()
  const findings = useQuery({ ...findingsQuery, refetchInterval: LOOK_MS })
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('health.findings')}</h2>
        <span className={page.muted}>{t('health.findingsHint')}</span>
      </div>
      <Loaded query={findings} height={480}>
        {(all) => (
          <DataTable
            label={t('health.findings')}
            columns={columns}
            rows={all.toSorted(
              ({ state: one }, { state: other }) => ORDER.indexOf(one) - ORDER.indexOf(other),
            )}
            idOf={({ check, found }) => `${check} ${found}`}
            isQuiet={({ state }) => state === 'skipped'}
          />
        )}
      </Loaded>
    </section>
  )
}

function useColumns(): readonly Column<Finding>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'state',
      head: t('operate.state'),
      cell: ({ state }) => <State {...SIGNS[state]}>{t(`health.findingStates.${state}`)}</State>,
    },
    { id: 'check', head: t('health.check'), cell: ({ check }) => check },
    {
      id: 'found',
      head: t('health.found'),
      cell: ({ found }) => <span className={operator.wrapped}>{found}</span>,
    },
    {
      id: 'fix',
      head: t('health.toDo'),
      cell: ({ fix }) => <span className={operator.wrapped}>{fix ?? '–'}</span>,
    },
  ]
}
