import { useQuery } from '@tanstack/react-query'
import { chainsQuery } from '../../api/operator/chains.ts'
import { healthQuery, type Health } from '../../api/operator/health.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { Figure } from '../../parts/charts/figure.tsx'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { State } from '../../parts/marks/state.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import page from '../../parts/page/page.module.css'
import { useFormat } from '../../parts/values/format.ts'
import { shortId } from '../../parts/values/short-id.ts'
import { Findings } from './findings.tsx'
import { TroubledChains } from './troubled-chains.tsx'
import { Waiting } from './waiting.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The state of the gateway, and what to do about problems. */
export function HealthPage() {
  const { t } = useTranslation()
  const health = useHealth()
  return (
    <>
      <PageHead title={t('operate.pages.health')} lead={t('health.lead')} />
      <Loaded query={health} height="80vh">
        {(now) => (
          <>
            <Traffic of={now.traffic} />
            <Waiting of={now.waiting} />
            <TroubledChains />
            <Instances of={now.instances} />
            <Findings />
          </>
        )}
      </Loaded>
    </>
  )
}

/** Rendered once the chains are loaded: their number decides the position of everything below. */
function useHealth() {
  const health = useQuery({ ...healthQuery, refetchInterval: LIVE_MS })
  const chains = useQuery(chainsQuery)
  return chains.isPending ? { ...health, data: undefined } : health
}

function Traffic({ of }: { readonly of: Health['traffic'] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const wait = (ms: number | null): string => (ms === null ? '–' : format.duration(ms))
  const within = format.period(Math.max(1, Math.round(of.seconds)))
  return (
    <div className={page.figures} role="group" aria-label={t('health.now')}>
      <Figure
        name={t('health.perSecond')}
        value={format.number(of.calls_per_second, 2)}
        note={t('health.calls', { count: of.calls, period: within })}
      />
      <Figure
        name={t('health.errors')}
        value={of.calls === 0 ? '–' : format.percent(of.failed / of.calls, 1)}
        note={t('health.failed', { count: of.failed, period: within })}
      />
      <Figure
        name={t('health.firstByte')}
        value={wait(of.first_byte_ms_median)}
        note={t('health.p95', { time: wait(of.first_byte_ms_p95) })}
      />
      <Figure
        name={t('health.tokens')}
        value={format.number(of.output_tokens_per_second, 1)}
        note={t('health.tokensNote')}
      />
    </div>
  )
}

const SIGNS = {
  running: { icon: 'done', tone: 'good' },
  silent: { icon: 'clock', tone: 'warn' },
  gone: { icon: 'paused', tone: 'quiet' },
} as const

type Instance = Health['instances'][number]

function Instances({ of }: { readonly of: readonly Instance[] }) {
  const { t } = useTranslation()
  const columns = useColumns()
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('health.instances')}</h2>
        <span className={page.muted}>
          {t('health.running', { count: of.filter(({ state }) => state === 'running').length })}
        </span>
      </div>
      <DataTable
        label={t('health.instances')}
        columns={columns}
        rows={of}
        idOf={({ id }) => id}
        isQuiet={({ state }) => state === 'gone'}
      />
    </section>
  )
}

function useColumns(): readonly Column<Instance>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'id',
      head: t('health.instance'),
      cell: ({ id }) => (
        <code className={table.first} title={id}>
          {shortId(id)}
        </code>
      ),
    },
    {
      id: 'state',
      head: t('operate.state'),
      cell: ({ state }) => <State {...SIGNS[state]}>{t(`health.states.${state}`)}</State>,
    },
    {
      id: 'beat',
      head: t('health.beat'),
      kind: 'muted',
      cell: ({ beat_at: at }) => <span title={format.moment(at)}>{format.ago(at)}</span>,
    },
    {
      id: 'calls',
      head: t('health.openCalls'),
      kind: 'muted',
      cell: ({ has_calls: open }) => t(open ? 'health.someOpen' : 'health.noneOpen'),
    },
  ]
}
