import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { keysQuery } from '../api/keys.ts'
import { useOrganisationId } from '../api/session.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { LinkButton } from '../parts/page/link-button.tsx'
import page from '../parts/page/page.module.css'
import { CopyIcon } from '../parts/snippets/copy-button.tsx'
import { FirstCall } from '../parts/snippets/first-call.tsx'
import { firstToCall } from '../parts/snippets/snippets.ts'
import { useOpenOffers } from '../parts/snippets/use-open-offers.ts'
import styles from './overview.module.css'
import { lastCallsQuery } from './queries.ts'
import { useTranslation } from '../texts/use-translation.ts'

/** Placeholder for the key. */
const KEY_PLACE = 'sk-…'

/** The base address, and a first call with the model called last, preferably a chat model. */
export function HowToCall() {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const { data: last } = useQuery(lastCallsQuery(organisation))
  const { data: keys } = useQuery(keysQuery(organisation))
  const offers = useOpenOffers()
  const isFirst = last?.data.length === 0
  const used = (last?.data ?? []).flatMap(({ ending, model }) =>
    ending === 'complete' ? (offers?.filter(({ model_id: id }) => id === model) ?? []) : [],
  )
  const shown = firstToCall([...used, ...(offers ?? [])])
  const baseUrl = window.location.origin
  return (
    <section className={page.section}>
      <div className={page.sectionHead}>
        <h2>{t('overview.firstCall')}</h2>
      </div>
      <div className={styles.base}>
        <code>{baseUrl}/v1</code>
        <CopyIcon value={`${baseUrl}/v1`} label={t('overview.copyBase')} size="sm" />
      </div>
      {/* The secret of an existing key is not known, so a first call needs a new key. */}
      {(keys?.length === 0 || isFirst) && (
        <Button
          fullWidth
          className={styles.create ?? ''}
          leftSection={<Icon name="key" />}
          renderRoot={(props) => <LinkButton {...props} to="/keys" search={{ key: 'new' }} />}
        >
          {t('overview.createKey')}
        </Button>
      )}
      <FirstCall
        first="openai"
        baseUrl={baseUrl}
        secret={KEY_PLACE}
        model={shown?.model_id ?? 'model'}
        endpoints={shown?.endpoints}
        hint={t(shown !== undefined && used.includes(shown) ? 'overview.yourModel' : 'overview.yourAddress')}
      />
    </section>
  )
}
