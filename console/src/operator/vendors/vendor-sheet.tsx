import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  type Credential,
  credentialsQuery,
  type Vendor,
  type VendorKind,
} from '../../api/operator/catalogue.ts'
import { Sheet } from '../../parts/forms/dialog.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { Note } from '../../parts/page/problem.tsx'
import { CredentialForm } from './credential-form.tsx'
import { CredentialRow } from './credential-row.tsx'
import { VendorSettings } from './vendor-settings.tsx'
import { VendorState } from './vendor-state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

interface VendorSheetProps {
  readonly of: Vendor
  readonly kinds: readonly VendorKind[]
  readonly onClose: () => void
}

/** One vendor: its address, its state, its credentials. */
export function VendorSheet({ of, kinds, onClose }: VendorSheetProps) {
  const { t } = useTranslation()
  const kind = kinds.find((each) => each.kind === of.kind)
  const [editing, edit] = useState<Credential | 'new'>()
  const credentials = useQuery(credentialsQuery)
  return (
    <Sheet title={of.name} onClose={onClose}>
      <p className={sheet.words}>
        <VendorState status={of.status} />
        <span>{kind?.name ?? of.kind}</span>
        {of.chains > 0 && <UsedBy of={of} />}
      </p>
      {of.chains === 0 && <NotUsed />}
      <section className={sheet.part}>
        <div className={sheet.partHead}>
          <h3>{t('vendors.credentials')}</h3>
          <Button
            variant="subtle"
            size="xs"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => edit('new')}
          >
            {t('vendors.addCredential')}
          </Button>
        </div>
        <Loaded query={credentials} height={80}>
          {(all) => (
            <>
              {all
                .filter(({ vendor }) => vendor === of.code)
                .map((credential) => (
                  <CredentialRow key={credential.id} of={credential} onEdit={() => edit(credential)} />
                ))}
              {of.credentials.length === 0 && <p className={sheet.note}>{t('vendors.noCredentials')}</p>}
            </>
          )}
        </Loaded>
      </section>
      <VendorSettings of={of} kind={kind} />
      {editing !== undefined && kind !== undefined && (
        <CredentialForm
          vendor={of.code}
          kind={kind}
          of={editing === 'new' ? undefined : editing}
          onClose={() => edit(undefined)}
        />
      )}
    </Sheet>
  )
}

function UsedBy({ of }: { readonly of: Vendor }) {
  const { t } = useTranslation()
  return (
    <Link to="/operate/chains" search={{ vendor: of.code }} className={page.link}>
      {t('vendors.usedBy', { count: of.chains })}
    </Link>
  )
}

/** The next step with a vendor that was just added. */
function NotUsed() {
  const { t } = useTranslation()
  return (
    <Note
      tone="info"
      action={
        <Link to="/operate/chains" search={{ open: 'new:' }} className={page.link}>
          {t('vendors.addChains')}
        </Link>
      }
    >
      {t('vendors.notUsed')}
    </Note>
  )
}
