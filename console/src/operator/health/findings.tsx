import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { type Finding, findingsQuery } from '../../api/operator/health.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { State } from '../../parts/marks/state.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { useFormat } from '../../parts/values/format.ts'
import type english from '../../texts/en/health.json'
import operator from '../parts/operator.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** How long the gateway caches its findings. */
const LOOK_MS = 60_000
const ORDER = ['failed', 'warning', 'skipped', 'ok'] as const
const SIGNS = {
  ok: { icon: 'done', tone: 'good' },
  warning: { icon: 'warning', tone: 'warn' },
  failed: { icon: 'failed', tone: 'bad' },
  skipped: { icon: 'paused', tone: 'quiet' },
} as const

/** The findings of `sluice doctor` for the running gateway: the worst first, each with its fix. */
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
  const putIn = usePutIn()
  return [
    {
      id: 'state',
      head: t('operate.state'),
      cell: ({ state }) => <State {...SIGNS[state]}>{t(`health.findingStates.${state}`)}</State>,
    },
    {
      id: 'check',
      head: t('health.check'),
      cell: ({ check }) => <span className={operator.wrapped}>{t(`health.checks.${check}`)}</span>,
    },
    {
      id: 'found',
      head: t('health.found'),
      cell: ({ code, parameters }) => (
        <span className={operator.wrapped}>{t(`health.saw.${code}`, { replace: putIn(parameters) })}</span>
      ),
    },
    {
      id: 'fix',
      head: t('health.toDo'),
      cell: (finding) => <Advice of={finding} />,
    },
  ]
}

type Code = Finding['code']

/** How to fix it, with a link if that is done on a page. */
function Advice({ of: { code, fix, parameters } }: { readonly of: Finding }) {
  const { t } = useTranslation()
  const putIn = usePutIn()
  if (!hasAdvice(code, fix)) return '–'
  const place = PLACES[code]?.(String(parameters['model']))
  const words = t(`health.advice.${code}`, { replace: putIn(parameters) })
  return (
    <span className={operator.wrapped}>
      {place === undefined ? (
        words
      ) : (
        <Link {...place} className={page.link}>
          {words}
        </Link>
      )}
    </span>
  )
}

/** Each code that has a fix has a text for it; a test compares the texts with the gateway's codes. */
function hasAdvice(code: Code, fix: string | null): code is keyof typeof english.advice {
  return fix !== null
}

/** The page where it is fixed, if there is one, filtered by the model if it concerns one. */
const PLACES: Partial<Readonly<Record<Code, (model: string) => LinkProps>>> = {
  'usage-estimated': (model) => ({ to: '/operate/chains', search: { model } }),
  'surcharges-unpriced': (model) => ({ to: '/operate/models', search: { open: model } }),
  'currency-unrated': () => ({ to: '/operate/settings' }),
  'vendor-offered': () => ({ to: '/operate/models', search: { tab: 'presets' } }),
}

/** Formats numbers for the language. */
function usePutIn() {
  const format = useFormat()
  return (parameters: Finding['parameters']): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [
        name,
        typeof value === 'number' ? format.number(value) : value,
      ]),
    )
}
