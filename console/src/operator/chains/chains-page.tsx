import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { type Chain, chainsQuery } from '../../api/operator/chains.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { State } from '../../parts/marks/state.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { late } from '../../parts/page/late.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { useAddress } from '../parts/use-address.ts'
import { CHAIN_STATES, stateOf } from '../parts/chain-health.tsx'
import styles from './chains.module.css'
import { ModelChains } from './model-chains.tsx'
import { TestAll } from './test-all.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const ChainForm = late(async () => (await import('./chain-form.tsx')).ChainForm)

/** In the address in place of an id while a chain is created, followed by the model. */
const NEW = 'new:'

/** The chains of each model in order of priority. */
export function ChainsPage() {
  const { t } = useTranslation()
  const [{ open }, , sheet] = useAddress()
  const chains = useQuery({ ...chainsQuery, refetchInterval: LIVE_MS })
  const add = (model: string): void => sheet.open(`${NEW}${model}`)
  const edited = chains.data?.find(({ id }) => String(id) === open)
  return (
    <>
      <PageHead title={t('operate.pages.chains')} lead={t('chains.lead')}>
        <TestAll of={chains.data ?? []} />
        <Button leftSection={<Icon name="plus" />} onClick={() => add('')}>
          {t('chains.add')}
        </Button>
      </PageHead>
      <Loaded query={chains} height={480}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="fellBack" title={t('chains.none')}>
              {t('chains.noneHint')}
            </Empty>
          ) : (
            <List all={all} at={chains.dataUpdatedAt} onAdd={add} />
          )
        }
      </Loaded>
      <Suspense>
        {open?.startsWith(NEW) === true && (
          <ChainForm key={open} model={open.slice(NEW.length)} of={undefined} onClose={sheet.close} />
        )}
        {edited !== undefined && (
          <ChainForm key={open} model={edited.model_id} of={edited} onClose={sheet.close} />
        )}
      </Suspense>
    </>
  )
}

interface ListProps {
  readonly all: readonly Chain[]
  /** When the data was read, epoch ms. */
  readonly at: number
  readonly onAdd: (model: string) => void
}

function List({ all, at, onAdd }: ListProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [{ state, vendor, model }, change] = useAddress()
  const ofModel = Map.groupBy(all, ({ model_id: id }) => id)
  const shown = [...ofModel].filter(
    ([id, chains]) =>
      (model === undefined || model === id) &&
      chains.some(
        (chain) =>
          (vendor === undefined || chain.vendor === vendor) &&
          (state === undefined || stateOf(chain) === state),
      ),
  )
  return (
    <>
      <Filters sum={format.recent(at)}>
        <Filter
          label={t('operate.state')}
          value={choiceField(state, CHAIN_STATES)}
          options={CHAIN_STATES.map((value) => ({
            value,
            label: `${t(`chains.states.${value}`)} ${all.filter((chain) => stateOf(chain) === value).length}`,
          }))}
          onChange={(value) => change({ state: value })}
        />
        <Filter
          label={t('chains.vendor')}
          value={vendor}
          options={optionsOf(all.map((chain) => chain.vendor))}
          onChange={(value) => change({ vendor: value })}
        />
        <Filter
          label={t('calls.model')}
          value={model}
          options={optionsOf([...ofModel.keys()])}
          onChange={(value) => change({ model: value })}
        />
      </Filters>
      {shown.length === 0 && <Empty icon="filter" title={t('nothingFits')} />}
      {shown.map(([id, chains]) => (
        <OneModel key={id} id={id} chains={chains} onAdd={() => onAdd(id)} />
      ))}
    </>
  )
}

interface OneModelProps {
  readonly id: string
  readonly chains: readonly Chain[]
  readonly onAdd: () => void
}

function OneModel({ id, chains, onAdd }: OneModelProps) {
  const { t } = useTranslation()
  const usable = chains.filter((chain) => chain.usable && chain.health.cooling_until === null).length
  const served = t('chains.served', { usable, count: chains.length })
  return (
    <section className={styles.model}>
      <div className={styles.modelHead}>
        <h2>{id}</h2>
        <span>
          {usable > 0 ? (
            served
          ) : (
            <State icon="warning" tone="bad">
              {served}
            </State>
          )}
        </span>
        <Button
          variant="subtle"
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          aria-label={t('chains.addTo', { model: id })}
          onClick={onAdd}
        >
          {t('chains.add')}
        </Button>
      </div>
      <ModelChains model={id} chains={chains} />
    </section>
  )
}

function optionsOf(values: readonly string[]): readonly { readonly value: string; readonly label: string }[] {
  return [...new Set(values)].sort().map((value) => ({ value, label: value }))
}
