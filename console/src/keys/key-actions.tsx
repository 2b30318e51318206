import { ActionIcon, Button, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { changeKey, deleteKey, type Key, type NewKey, rotateKey } from '../api/keys.ts'
import { useOrganisationId } from '../api/session.ts'
import { Confirm } from '../parts/forms/confirm.tsx'
import { RotateDialog } from '../parts/keys/rotate-dialog.tsx'
import { Icon } from '../parts/marks/icon.tsx'
import { Marked } from '../parts/marks/marked.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { FormProblem } from '../parts/page/problem.tsx'
import { useProblemText } from '../parts/page/use-problem.ts'
import styles from './keys.module.css'

type Act = 'rotate' | 'disable' | 'delete'

interface KeyActionsProps {
  readonly of: Key
  readonly onEdit: () => void
  readonly onReady: (made: NewKey) => void
}

/** What can be done with a key: one thing at hand, the rest in a menu. */
export function KeyActions({ of, onEdit, onReady }: KeyActionsProps) {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const queryClient = useQueryClient()
  const problemText = useProblemText()
  const [asking, ask] = useState<Act>()
  const enable = useMutation({
    mutationFn: () => changeKey(of.id, { status: 'enabled' }, organisation),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  })
  return (
    <span className={styles.act}>
      <Button variant="default" size="xs" className={styles.atHand} onClick={() => ask('rotate')}>
        {t('keys.rotate')}
      </Button>
      <Menu width={200}>
        <Menu.Target>
          <ActionIcon size="sm" aria-label={t('keys.more', { name: of.name })}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="edit" />} onClick={onEdit}>
            {t('keys.edit')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="rotate" />} onClick={() => ask('rotate')}>
            {t('keys.rotate')}
          </Menu.Item>
          {of.status === 'enabled' ? (
            <Menu.Item leftSection={<Icon name="paused" />} onClick={() => ask('disable')}>
              {t('keys.disable')}
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<Icon name="play" />} onClick={() => enable.mutate()}>
              {t('keys.enable')}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item data-danger leftSection={<Icon name="trash" />} onClick={() => ask('delete')}>
            {t('keys.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <FormProblem text={enable.error === null ? undefined : problemText(enable.error)} />
      {asking !== undefined && (
        <ActDialog act={asking} of={of} onClose={() => ask(undefined)} onReady={onReady} />
      )}
    </span>
  )
}

interface ActDialogProps {
  readonly act: Act
  readonly of: Key
  readonly onClose: () => void
  readonly onReady: (made: NewKey) => void
}

/** Asks for what cannot be taken back, and does it. */
function ActDialog({ act, of, onClose, onReady }: ActDialogProps) {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const queryClient = useQueryClient()
  const renew = () => queryClient.invalidateQueries({ queryKey: ['keys'] })
  if (act === 'rotate') {
    const take = (made: NewKey): void => {
      onClose()
      inBackground(renew())
      onReady(made)
    }
    return (
      <RotateDialog
        of={of}
        rotate={(overlap) => rotateKey(of.id, overlap, organisation)}
        onClose={onClose}
        onRotated={take}
      />
    )
  }
  const isDelete = act === 'delete'
  return (
    <Confirm
      title={t(isDelete ? 'keys.deleteTitle' : 'keys.disableTitle')}
      action={t(isDelete ? 'keys.delete' : 'keys.disable')}
      danger={isDelete}
      onConfirm={async () => {
        if (isDelete) await deleteKey(of.id, organisation)
        else await changeKey(of.id, { status: 'disabled' }, organisation)
        await renew()
      }}
      onClose={onClose}
    >
      <Marked
        text={
          isDelete
            ? t('keys.deleteText', { name: of.name, hint: of.hint })
            : t('keys.disableText', { name: of.name })
        }
      />
    </Confirm>
  )
}
