import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Chain, chainsQuery } from '../../api/operator/chains.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import table from '../../parts/lists/table.module.css'
import { State } from '../../parts/marks/state.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { Health as HealthWord, ResetChain, stateOf, Trouble } from '../parts/chain-health.tsx'
import styles from './health.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

const TROUBLES: readonly string[] = ['cooling', 'limited', 'failing']

/** Chains that are skipped or fail, and why. */
export function TroubledChains() {
  const { t } = useTranslation()
  const chains = useQuery({ ...chainsQuery, refetchInterval: LIVE_MS })
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('health.chains')}</h2>
        <Link to="/operate/chains" className={page.link}>
          {t('health.allChains')}
        </Link>
      </div>
      <Loaded query={chains} height={20}>
        {(all) => {
          const troubled = all.filter((chain) => TROUBLES.includes(stateOf(chain)))
          return troubled.length === 0 ? (
            <p className={styles.well}>
              <State icon="done" tone="good">
                {t('health.chainsWell', { count: all.length })}
              </State>
            </p>
          ) : (
            troubled.map((chain) => <OneChain key={chain.id} of={chain} />)
          )
        }}
      </Loaded>
    </section>
  )
}

function OneChain({ of }: { readonly of: Chain }) {
  return (
    <div className={styles.trouble}>
      <div>
        <Link to="/operate/chains" search={{ model: of.model_id }} className={page.link}>
          {of.model_id}
        </Link>
        <span className={table.second}>
          {of.vendor} · {of.credential}
        </span>
        <HealthWord of={of} />
      </div>
      <Trouble of={of} />
      <ResetChain of={of} />
    </div>
  )
}
