import { Button, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { type Offer, pricingQuery } from '../api/models.ts'
import { useOrganisationId } from '../api/session.ts'
import { type Change, present } from '../parts/lists/search-fields.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { Empty } from '../parts/page/empty.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { Loaded } from '../parts/page/loaded.tsx'
import { PageHead } from '../parts/page/page-head.tsx'
import { CallPanel } from './call-panel.tsx'
import { kindsOf } from './kinds/index.ts'
import type { Kind } from './kinds/kind.ts'
import { OnceForm } from './once-form.tsx'
import styles from './playground.module.css'
import type { PlaygroundSearch } from './search.ts'
import { Talk } from './talk.tsx'
import { useCall } from './use-call.ts'
import { useKindName } from './use-kind-name.ts'
import { useSaid } from './use-said.ts'
import { useTranslation } from '../texts/use-translation.ts'
import { Segments } from '../parts/forms/segments.tsx'

const route = getRouteApi('/frame/playground')

/** Tries out models: request, response, cost, and a snippet of the same call. */
export function PlaygroundPage() {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const offers = useQuery(pricingQuery(organisation))
  return (
    <Loaded query={{ ...offers, data: offers.data && callableOf(offers.data) }} height={640}>
      {(models) =>
        models.length === 0 ? (
          <>
            <PageHead title={t('pages.playground')} />
            <Empty icon="models" title={t('playground.none')}>
              {t('playground.noneHint')}
            </Empty>
          </>
        ) : (
          <Playground key={organisation ?? ''} models={models} />
        )
      }
    </Loaded>
  )
}

interface Callable {
  readonly offer: Offer
  readonly kinds: readonly Kind[]
}

/** One entry for each model that the playground can call. */
function callableOf(offers: readonly Offer[]): readonly Callable[] {
  const models = [...new Map(offers.map((offer) => [offer.model_id, offer])).values()]
  return models.map((offer) => ({ offer, kinds: kindsOf(offer) })).filter(({ kinds }) => kinds.length > 0)
}

function Playground({ models }: { readonly models: readonly Callable[] }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const caller = useCall()
  const { forget } = useSaid()
  /** Changes to remount the panes for a new conversation. */
  const [round, setRound] = useState(0)
  const change = (fields: Change<PlaygroundSearch>): void =>
    inBackground(navigate({ search: (now) => present({ ...now, ...fields }), replace: true }))
  const model = models.find(({ offer }) => offer.model_id === search.model) ?? models[0]
  const kind = model?.kinds.find(({ id }) => id === search.kind) ?? model?.kinds[0]
  if (model === undefined || kind === undefined) return null
  const begin = (): void => {
    caller.forget()
    forget()
    setRound((now) => now + 1)
  }
  const id = model.offer.model_id
  const isRunning = caller.call?.state === 'running'
  const pane = { model: id, caller }
  return (
    <>
      <PageHead title={t('pages.playground')}>
        <Button variant="default" leftSection={<Icon name="plus" size={14} />} onClick={begin}>
          {t('playground.anew')}
        </Button>
      </PageHead>
      <Choices models={models} model={model} kind={kind} isFixed={isRunning} onChange={change} />
      <div className={styles.place}>
        {kind.form === 'conversation' ? (
          <Talk
            key={round}
            {...pane}
            kind={kind}
            seesPictures={model.offer.support_features.includes('image')}
          />
        ) : (
          <OnceForm key={`${kind.id} ${round}`} {...pane} kind={kind} />
        )}
        <CallPanel call={caller.call} kind={kind} />
      </div>
    </>
  )
}

interface ChoicesProps {
  readonly models: readonly Callable[]
  readonly model: Callable
  readonly kind: Kind
  /** While a call runs. */
  readonly isFixed: boolean
  readonly onChange: (fields: Change<PlaygroundSearch>) => void
}

/** Chooses the model and the protocol. */
function Choices({ models, model, kind, isFixed, onChange }: ChoicesProps) {
  const { t } = useTranslation()
  const kindName = useKindName()
  return (
    <div className={styles.choices}>
      <Select
        aria-label={t('calls.model')}
        searchable
        className={styles.model ?? ''}
        value={model.offer.model_id}
        data={models.map(({ offer }) => ({ value: offer.model_id, label: offer.name }))}
        nothingFoundMessage={t('frame.nothingFound')}
        disabled={isFixed}
        onChange={(next) => next !== null && onChange({ model: next })}
      />
      {model.kinds.length > 1 && (
        <div className={styles.kinds}>
          <Segments
            aria-label={t('playground.kind')}
            value={kind.id}
            disabled={isFixed}
            data={model.kinds.map((each) => ({ value: each.id, label: kindName(each) }))}
            onChange={(next) => onChange({ kind: next })}
          />
        </div>
      )}
    </div>
  )
}
