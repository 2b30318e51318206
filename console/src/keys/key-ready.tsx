import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { keyLimitsQuery, type NewKey } from '../api/keys.ts'
import { groupsQuery } from '../api/models.ts'
import { useOrganisationId } from '../api/session.ts'
import { Dialog } from '../parts/forms/dialog.tsx'
import form from '../parts/forms/form.module.css'
import { usePolicyWords } from '../parts/limits/use-policy-words.ts'
import { Facts } from '../parts/lists/facts.tsx'
import { Icon } from '../parts/marks/icon.tsx'
import { NoFunds } from '../parts/page/no-funds.tsx'
import { Note } from '../parts/page/problem.tsx'
import { CopyButton } from '../parts/snippets/copy-button.tsx'
import { FirstCall } from '../parts/snippets/first-call.tsx'
import { firstToCall } from '../parts/snippets/snippets.ts'
import { useOpenOffers } from '../parts/snippets/use-open-offers.ts'
import { useFormat } from '../parts/values/format.ts'
import styles from './keys.module.css'
import { useTranslation } from '../texts/use-translation.ts'

/** How often to check whether the first call has arrived. */
const LOOK_MS = 2_000

interface KeyReadyProps {
  readonly made: NewKey
  readonly onClose: () => void
}

/** The secret, shown once, with snippets that work when pasted, and whether the first call has arrived. */
export function KeyReady({ made, onClose }: KeyReadyProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const { group, model } = useFirstModel(made)
  const policyWords = usePolicyWords()
  return (
    <Dialog
      onClose={onClose}
      size={640}
      title={t('keys.readyTitle', { name: made.name })}
      closeOnClickOutside={false}
    >
      <div className={form.stack}>
        <div className={form.once}>
          <code>{made.key}</code>
          <CopyButton variant="filled" value={made.key} label={t('keys.copyKey')} />
        </div>
        <Note>{t('keys.once')}</Note>
        <NoFunds />
        <FirstCall
          first={group?.protocol === 'messages' ? 'claude-code' : 'curl'}
          baseUrl={window.location.origin}
          secret={made.key}
          model={model?.model_id ?? 'model'}
          endpoints={model?.endpoints}
          protocol={group?.protocol}
        />
        <Facts
          rows={[
            [t('pages.models'), made.models.length === 0 ? t('keys.allModels') : made.models.join(', ')],
            [t('keys.limits'), policyWords(made.policy)],
            [t('keys.expires'), made.expires_at === null ? t('keys.never') : format.date(made.expires_at)],
          ]}
        />
        <div className={form.foot}>
          <FirstUse of={made} />
          <Button onClick={onClose}>{t('keys.saved')}</Button>
        </div>
      </div>
    </Dialog>
  )
}

/** The key's group, and the model that its snippets call. */
function useFirstModel(made: NewKey) {
  const offers = useOpenOffers()
  const { data: groups } = useQuery(groupsQuery)
  const group = groups?.find(({ name }) => name === made.group)
  const allowed = made.models.length > 0 ? made.models : group?.models
  // Models that the account may call come first.
  const rank = (id: string): number => (offers?.some(({ model_id: each }) => each === id) === true ? 0 : 1)
  const model = firstToCall(
    allowed
      ?.toSorted((one, other) => rank(one) - rank(other))
      .map((id) => ({
        model_id: id,
        endpoints: offers?.find(({ model_id: each }) => each === id)?.endpoints ?? [],
      })) ??
      offers ??
      [],
  )
  return { group, model }
}

/** A rotated key already has a last use: only a later one counts. */
function FirstUse({ of }: { readonly of: NewKey }) {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const { data: before } = useQuery({
    ...keyLimitsQuery(organisation),
    queryKey: ['key-limits-when-ready', organisation ?? '', of.key],
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { data: now } = useQuery({ ...keyLimitsQuery(organisation), refetchInterval: LOOK_MS })
  const lastUseIn = (limits: typeof now): string | null | undefined =>
    limits?.find(({ id }) => id === of.id)?.last_used_at
  const lastUse = lastUseIn(now)
  const used = before !== undefined && typeof lastUse === 'string' && lastUse !== lastUseIn(before)
  return (
    <span className={styles.ready} data-used={used || undefined} role="status">
      <Icon name={used ? 'done' : 'clock'} />
      {t(used ? 'keys.firstCallCame' : 'keys.firstCallAwaited')}
    </span>
  )
}
