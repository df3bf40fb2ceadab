package choir

import "maps"

// The reasons. Which values each takes stands in its sentences.
const (
	ReasonNoComputer             Reason = "no_computer"
	ReasonNotRunning             Reason = "not_running"
	ReasonStopped                Reason = "stopped"
	ReasonNoComputerYet          Reason = "no_computer_yet"
	ReasonNothingOfYours         Reason = "nothing_of_yours"
	ReasonNoOperation            Reason = "no_operation"
	ReasonNobodyLoggedIn         Reason = "nobody_logged_in"
	ReasonNotLoggedIn            Reason = "not_logged_in"
	ReasonSessionEnded           Reason = "session_ended"
	ReasonPageHasNoSession       Reason = "page_has_no_session"
	ReasonLinkUsed               Reason = "link_used"
	ReasonLinkTooOld             Reason = "link_too_old"
	ReasonTicketSpent            Reason = "ticket_spent"
	ReasonTooManyTickets         Reason = "too_many_tickets"
	ReasonOnlyOnHost             Reason = "only_on_host"
	ReasonOnlyOwner              Reason = "only_owner"
	ReasonDesktopMayNot          Reason = "desktop_may_not"
	ReasonOtherComputersDesktop  Reason = "other_computers_desktop"
	ReasonOtherPage              Reason = "other_page"
	ReasonTooManySockets         Reason = "too_many_sockets"
	ReasonBodyTooLarge           Reason = "body_too_large"
	ReasonTooManyDrafts          Reason = "too_many_drafts"
	ReasonTooManyDeskChanges     Reason = "too_many_desktop_changes"
	ReasonTooManyConnects        Reason = "too_many_connects"
	ReasonTooManyPrompts         Reason = "too_many_prompts"
	ReasonTooManyAwake           Reason = "too_many_awake"
	ReasonPromptLength           Reason = "prompt_length"
	ReasonNoIsolation            Reason = "no_isolation"
	ReasonHostNoProcesses        Reason = "host_no_processes"
	ReasonHostNoFiles            Reason = "host_no_files"
	ReasonHostNoMemory           Reason = "host_no_memory"
	ReasonHostNoSpace            Reason = "host_no_space"
	ReasonComputerNotOpened      Reason = "computer_not_opened"
	ReasonComputerNotRunning     Reason = "computer_not_running"
	ReasonComputerNotStarted     Reason = "computer_not_started"
	ReasonEgressNone             Reason = "egress_none"
	ReasonEgressHost             Reason = "egress_host"
	ReasonEgressTask             Reason = "egress_task"
	ReasonEgressRule             Reason = "egress_rule"
	ReasonEgressUnclear          Reason = "egress_unclear"
	ReasonEgressAddress          Reason = "egress_address"
	ReasonEgressBusy             Reason = "egress_busy"
	ReasonEgressUnreachable      Reason = "egress_unreachable"
	ReasonEgressAsked            Reason = "egress_asked"
	ReasonEgressClosed           Reason = "egress_closed"
	ReasonEgressOver             Reason = "egress_over"
	ReasonEgressNobodyAsks       Reason = "egress_nobody_asks"
	ReasonEgressManyGrants       Reason = "egress_many_grants"
	ReasonEgressNoGrant          Reason = "egress_no_grant"
	ReasonEgressHeld             Reason = "egress_held"
	ReasonEgressDigest           Reason = "egress_digest"
	ReasonEffectHeld             Reason = "effect_held"
	ReasonEffectNone             Reason = "effect_none"
	ReasonEffectApproved         Reason = "effect_approved"
	ReasonEffectRefused          Reason = "effect_refused"
	ReasonEffectAgain            Reason = "effect_again"
	ReasonEffectMoved            Reason = "effect_moved"
	ReasonVaultNoEntry           Reason = "vault_no_entry"
	ReasonVaultUnreadable        Reason = "vault_unreadable"
	ReasonVaultKeyShort          Reason = "vault_key_short"
	ReasonCredentialNotForThis   Reason = "credential_not_for_this"
	ReasonGitNotNamed            Reason = "git_not_named"
	ReasonGitNotARequest         Reason = "git_not_a_request"
	ReasonGitUnauthorized        Reason = "git_unauthorized"
	ReasonVaultNoneFor           Reason = "vault_none_for"
	ReasonGitMoved               Reason = "git_moved"
	ReasonGitEncoded             Reason = "git_encoded"
	ReasonGitAddress             Reason = "git_address"
	ReasonGitCloneFailed         Reason = "git_clone_failed"
	ReasonMakingComputers        Reason = "making_computers"
	ReasonNameBeingMade          Reason = "name_being_made"
	ReasonNameTaken              Reason = "name_taken"
	ReasonNameLength             Reason = "name_length"
	ReasonPhraseLength           Reason = "phrase_length"
	ReasonNameIsID               Reason = "name_is_id"
	ReasonImportUnderWay         Reason = "import_under_way"
	ReasonDemoUnderWay           Reason = "demo_under_way"
	ReasonImportNoSpace          Reason = "import_no_space"
	ReasonDiskFull               Reason = "disk_full"
	ReasonPathExists             Reason = "path_exists"
	ReasonPathVanished           Reason = "path_vanished"
	ReasonPathChanged            Reason = "path_changed"
	ReasonPathMissing            Reason = "path_missing"
	ReasonPathMissingThen        Reason = "path_missing_then"
	ReasonPathOutside            Reason = "path_outside"
	ReasonPathLength             Reason = "path_length"
	ReasonPathInGit              Reason = "path_in_git"
	ReasonTargetTwice            Reason = "target_twice"
	ReasonAlreadyThere           Reason = "already_there"
	ReasonIntoItself             Reason = "into_itself"
	ReasonHoldsItself            Reason = "holds_itself"
	ReasonInTrash                Reason = "in_trash"
	ReasonOneInsideOther         Reason = "one_inside_other"
	ReasonNotInTrash             Reason = "not_in_trash"
	ReasonNoTrashItem            Reason = "no_trash_item"
	ReasonUploadTooLarge         Reason = "upload_too_large"
	ReasonTaskRunning            Reason = "task_running"
	ReasonTooManyWindows         Reason = "too_many_windows"
	ReasonNoWindow               Reason = "no_window"
	ReasonNoRunHere              Reason = "no_run_here"
	ReasonTooManySettings        Reason = "too_many_settings"
	ReasonDraftTooLarge          Reason = "draft_too_large"
	ReasonDraftChanged           Reason = "draft_changed"
	ReasonDraftsFull             Reason = "drafts_full"
	ReasonNothingUnsaved         Reason = "nothing_unsaved"
	ReasonNoDocumentThen         Reason = "no_document_then"
	ReasonDocumentExists         Reason = "document_exists"
	ReasonDocumentChanged        Reason = "document_changed"
	ReasonTitleBlank             Reason = "title_blank"
	ReasonNoOverlay              Reason = "no_overlay"
	ReasonNotInLog               Reason = "not_in_log"
	ReasonSourceNotOlder         Reason = "source_not_older"
	ReasonDesktopBudget          Reason = "desktop_budget"
	ReasonRunAtWork              Reason = "run_at_work"
	ReasonNoSuchQuestion         Reason = "no_such_question"
	ReasonRunEnded               Reason = "run_ended"
	ReasonNoRunToFollow          Reason = "no_run_to_follow"
	ReasonRunNotEnded            Reason = "run_not_ended"
	ReasonUndoRunOpen            Reason = "undo_run_open"
	ReasonUndoNoFiles            Reason = "undo_no_files"
	ReasonUndoUnknown            Reason = "undo_unknown"
	ReasonUndoCallOpen           Reason = "undo_call_open"
	ReasonUndoTaskOpen           Reason = "undo_task_open"
	ReasonUndoNeverBegan         Reason = "undo_never_began"
	ReasonTaskDoesNotStop        Reason = "task_does_not_stop"
	ReasonRewindUnderWay         Reason = "rewind_under_way"
	ReasonNoRewind               Reason = "no_rewind"
	ReasonChangedOnBothSides     Reason = "changed_on_both_sides"
	ReasonNoEvent                Reason = "no_event"
	ReasonNoSnapshotThen         Reason = "no_snapshot_then"
	ReasonNoTerminalNow          Reason = "no_terminal_now"
	ReasonTooManyTerminals       Reason = "too_many_terminals"
	ReasonNoTerminal             Reason = "no_terminal"
	ReasonTypedTooFar            Reason = "typed_too_far"
	ReasonSandboxEnded           Reason = "sandbox_ended"
	ReasonSandboxSilent          Reason = "sandbox_silent"
	ReasonNoProject              Reason = "no_project"
	ReasonNotAProjectName        Reason = "not_a_project_name"
	ReasonNoProjectName          Reason = "no_project_name"
	ReasonNoWorkToExport         Reason = "no_work_to_export"
	ReasonUndoneNotCommitted     Reason = "undone_not_committed"
	ReasonRepositoryBroken       Reason = "repository_broken"
	ReasonNoModelKey             Reason = "no_model_key"
	ReasonNoModel                Reason = "no_model"
	ReasonNoModelFor             Reason = "no_model_for"
	ReasonKeyRefused             Reason = "key_refused"
	ReasonKeyRefusedInForm       Reason = "key_refused_in_form"
	ReasonNoCredit               Reason = "no_credit"
	ReasonModelFailed            Reason = "model_failed"
	ReasonModelRefused           Reason = "model_refused"
	ReasonModelNotThere          Reason = "model_not_there"
	ReasonModelOverloaded        Reason = "model_overloaded"
	ReasonModelUnreachable       Reason = "model_unreachable"
	ReasonModelUnreachableInForm Reason = "model_unreachable_in_form"
	ReasonModelSilent            Reason = "model_silent"
	ReasonConnectUnderWay        Reason = "connect_under_way"
	ReasonRegionMissing          Reason = "region_missing"
	ReasonKeyAgain               Reason = "key_again"
	ReasonKeyMissing             Reason = "key_missing"
	ReasonKeyEmpty               Reason = "key_empty"
	ReasonKeyTooLong             Reason = "key_too_long"
	ReasonKeyNotAlone            Reason = "key_not_alone"
	ReasonNotAServiceName        Reason = "not_a_service_name"
	ReasonAddressNotHTTP         Reason = "address_not_http"
	ReasonAddressWithSecret      Reason = "address_with_secret"
	ReasonAddressUnencrypted     Reason = "address_unencrypted"
	ReasonAddressForbidden       Reason = "address_forbidden"
	ReasonPriceUnknown           Reason = "price_unknown"
	ReasonPriceUnknownTested     Reason = "price_unknown_tested"
	ReasonServiceUnknown         Reason = "service_unknown"
	ReasonKeyFileMissing         Reason = "key_file_missing"
	ReasonKeyFileOpen            Reason = "key_file_open"
	ReasonKeyFileEmpty           Reason = "key_file_empty"
	ReasonStoreKeepsAll          Reason = "store_keeps_all"
	ReasonBeingExported          Reason = "being_exported"
	ReasonWorkspaceToBecome      Reason = "workspace_to_become"
	ReasonWorkspaceToRecord      Reason = "workspace_to_record"
	ReasonImportLogDamaged       Reason = "import_log_damaged"
	ReasonImportWorkspaceDiffers Reason = "import_workspace_differs"
	ReasonImportOtherComputer    Reason = "import_other_computer"
	ReasonImportBlobMissing      Reason = "import_blob_missing"
	ReasonImportBlobSpare        Reason = "import_blob_spare"
	ReasonLogEndsElsewhere       Reason = "log_ends_elsewhere"
	ReasonNoSnapshotYet          Reason = "no_snapshot_yet"
	ReasonNoSharedPast           Reason = "no_shared_past"
	ReasonNothingChangedThere    Reason = "nothing_changed_there"
	ReasonComputerClosed         Reason = "computer_closed"
	ReasonFileOfNewerChoir       Reason = "file_of_newer_choir"
	ReasonCheckpointLate         Reason = "checkpoint_late"
	ReasonGrantNoRun             Reason = "grant_no_run"
	ReasonEventOfOther           Reason = "event_of_other"
	ReasonLogOfOther             Reason = "log_of_other"
	ReasonMomentCollected        Reason = "moment_collected"
	ReasonProjectFolderThere     Reason = "project_folder_there"
	ReasonProjectNotTrashed      Reason = "project_not_trashed"
	ReasonBeingCloned            Reason = "being_cloned"
	ReasonGitFailed              Reason = "git_failed"
	ReasonGitSlow                Reason = "git_slow"
	ReasonTooManyBroke           Reason = "too_many_broke"
	ReasonSourceAsShipped        Reason = "source_as_shipped"
	ReasonNoFolder               Reason = "no_folder"
	ReasonBrowserSlow            Reason = "browser_slow"
	ReasonMetricsToken           Reason = "metrics_token"
	ReasonConnectionLost         Reason = "connection_lost"
	ReasonServiceKeyStays        Reason = "service_key_stays"
	ReasonServiceChanged         Reason = "service_changed"
	ReasonVaultKeyChanged        Reason = "vault_key_changed"
	ReasonComputerStops          Reason = "computer_stops"
	ReasonNoSuchRoute            Reason = "no_such_route"
	ReasonNoServiceWorker        Reason = "no_service_worker"
	ReasonPageOfOther            Reason = "page_of_other"
	ReasonPageLeadsOut           Reason = "page_leads_out"
	ReasonPortNoAnswer           Reason = "port_no_answer"
	ReasonNotInBuild             Reason = "not_in_build"
	ReasonChoirStopping          Reason = "choir_stopping"
	ReasonEgressModeGiven        Reason = "egress_mode_given"
	ReasonEgressWithoutGiven     Reason = "egress_without_given"
	ReasonNoConfiguration        Reason = "no_configuration"
	ReasonComputerHibernates     Reason = "computer_hibernates"
	ReasonNoSuchModel            Reason = "no_such_model"
	ReasonNoVault                Reason = "no_vault"
	ReasonVaultBoundElsewhere    Reason = "vault_bound_elsewhere"
	ReasonRecordLocks            Reason = "record_locks"
	ReasonDemoPlaying            Reason = "demo_playing"
	ReasonDemoWouldReplace       Reason = "demo_would_replace"
	ReasonSeatDown               Reason = "seat_down"
	ReasonSeatNoteDamaged        Reason = "seat_note_damaged"
	ReasonSeatOtherDriver        Reason = "seat_other_driver"
	ReasonNotRunningHere         Reason = "not_running_here"
	ReasonCookieNotKept          Reason = "cookie_not_kept"
	ReasonDesktopServerEnded     Reason = "desktop_server_ended"
	ReasonDesktopServerSlow      Reason = "desktop_server_slow"
	ReasonDesktopNoNode          Reason = "desktop_no_node"
	ReasonExportChanged          Reason = "export_changed"
	ReasonArchiveListLarge       Reason = "archive_list_large"
	ReasonNotAnExport            Reason = "not_an_export"
	ReasonArchiveMemberLarge     Reason = "archive_member_large"
	ReasonTooDeep                Reason = "too_deep"
	ReasonEventMissing           Reason = "event_missing"
	ReasonLogEndsAt              Reason = "log_ends_at"
	ReasonEventOfNewerChoir      Reason = "event_of_newer_choir"
	ReasonLogDamaged             Reason = "log_damaged"
	ReasonLogReadOnly            Reason = "log_read_only"
	ReasonRoleMayNotAppend       Reason = "role_may_not_append"
	ReasonAppendAnswering        Reason = "append_answering"
	ReasonAppendCollided         Reason = "append_collided"
	ReasonAppendFirstFailed      Reason = "append_first_failed"
	ReasonAppendQueueFull        Reason = "append_queue_full"
	ReasonEventUnreadable        Reason = "event_unreadable"
	ReasonLogClosedBefore        Reason = "log_closed_before"
	ReasonLogClosed              Reason = "log_closed"
	ReasonSQLiteOfNewer          Reason = "sqlite_of_newer"
	ReasonSQLiteNotReplaced      Reason = "sqlite_not_replaced"
	ReasonJournalReading         Reason = "journal_reading"
	ReasonJournalDamaged         Reason = "journal_damaged"
	ReasonJournalClosed          Reason = "journal_closed"
	ReasonEventDamaged           Reason = "event_damaged"
	ReasonLogPartRepaired        Reason = "log_part_repaired"
	ReasonNoEventYet             Reason = "no_event_yet"
	ReasonJournalDamagedPart     Reason = "journal_damaged_part"
	ReasonModelCallFailed        Reason = "model_call_failed"
	ReasonConversationLong       Reason = "conversation_long"
	ReasonModelConnectionBroke   Reason = "model_connection_broke"
	ReasonModelStreamCut         Reason = "model_stream_cut"
	ReasonModelStreamMalformed   Reason = "model_stream_malformed"
	ReasonModelNothingFor        Reason = "model_nothing_for"
	ReasonModelRedirects         Reason = "model_redirects"
	ReasonModelContentType       Reason = "model_content_type"
	ReasonWorkspaceTooMuch       Reason = "workspace_too_much"
	ReasonRemovedMoved           Reason = "removed_moved"
	ReasonTreeKeptChanging       Reason = "tree_kept_changing"
	ReasonProgramNotInBuild      Reason = "program_not_in_build"
	ReasonModelCallStopped       Reason = "model_call_stopped"
	ReasonModelCallLong          Reason = "model_call_long"
	ReasonImportShort            Reason = "import_short"
	ReasonImportFirstHead        Reason = "import_first_head"
	ReasonImportManifest         Reason = "import_manifest"
	ReasonImportNoZeros          Reason = "import_no_zeros"
	ReasonImportHead             Reason = "import_head"
	ReasonImportContent          Reason = "import_content"
	ReasonImportMore             Reason = "import_more"
	ReasonExportListLarge        Reason = "export_list_large"
	ReasonModelPriceUnknown      Reason = "model_price_unknown"
	ReasonSQLiteDamaged          Reason = "sqlite_damaged"
	ReasonDesktopNotCarried      Reason = "desktop_not_carried"
	ReasonDraftsDiskFull         Reason = "drafts_disk_full"
	ReasonDraftsDamaged          Reason = "drafts_damaged"
	ReasonPathNoFolder           Reason = "path_no_folder"
	ReasonPathNoFile             Reason = "path_no_file"
	ReasonPathNoFolderThen       Reason = "path_no_folder_then"
	ReasonPathNoFileThen         Reason = "path_no_file_then"
	ReasonPathTooLongToShow      Reason = "path_too_long_to_show"
	ReasonPathThroughLink        Reason = "path_through_link"
	ReasonWorkspaceSlow          Reason = "workspace_slow"
	ReasonLogDiskFull            Reason = "log_disk_full"
	ReasonSQLiteDamagedNow       Reason = "sqlite_damaged_now"
)

// reasonCodes maps each reason to the code of its errors.
var reasonCodes = merge(pageReasons, fieldReasons, hostReasons)

// merge returns the rows of all tables as one.
func merge(tables ...map[Reason]Code) map[Reason]Code {
	all := map[Reason]Code{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// pageReasons are the reasons that pages say too, about more than one field. Their
// sentences are in problems.*.json.
var pageReasons = map[Reason]Code{
	ReasonNoComputer:             CodeNotFound,
	ReasonNotRunning:             CodeUnavailable,
	ReasonStopped:                CodeUnavailable,
	ReasonNoComputerYet:          CodeNotFound,
	ReasonNothingOfYours:         CodeNotFound,
	ReasonNoOperation:            CodeNotFound,
	ReasonNobodyLoggedIn:         CodeUnauthenticated,
	ReasonNotLoggedIn:            CodeUnauthenticated,
	ReasonSessionEnded:           CodeUnauthenticated,
	ReasonPageHasNoSession:       CodeUnauthenticated,
	ReasonLinkUsed:               CodeUnauthenticated,
	ReasonLinkTooOld:             CodeUnauthenticated,
	ReasonTicketSpent:            CodeUnauthenticated,
	ReasonTooManyTickets:         CodeRateLimited,
	ReasonOnlyOnHost:             CodeForbidden,
	ReasonOnlyOwner:              CodeForbidden,
	ReasonDesktopMayNot:          CodeForbidden,
	ReasonOtherComputersDesktop:  CodeForbidden,
	ReasonOtherPage:              CodeForbidden,
	ReasonTooManySockets:         CodeRateLimited,
	ReasonBodyTooLarge:           CodeTooLarge,
	ReasonTooManyDrafts:          CodeRateLimited,
	ReasonTooManyDeskChanges:     CodeRateLimited,
	ReasonTooManyConnects:        CodeRateLimited,
	ReasonTooManyPrompts:         CodeRateLimited,
	ReasonTooManyAwake:           CodeBusy,
	ReasonPromptLength:           CodeInvalid,
	ReasonNoIsolation:            CodeUnavailable,
	ReasonHostNoProcesses:        CodeUnavailable,
	ReasonHostNoFiles:            CodeUnavailable,
	ReasonHostNoMemory:           CodeUnavailable,
	ReasonHostNoSpace:            CodeNoSpace,
	ReasonComputerNotOpened:      CodeUnavailable,
	ReasonComputerNotRunning:     CodeUnavailable,
	ReasonComputerNotStarted:     CodeUnavailable,
	ReasonEgressNone:             CodeRefused,
	ReasonEgressHost:             CodeRefused,
	ReasonEgressTask:             CodeRefused,
	ReasonEgressRule:             CodeRefused,
	ReasonEgressUnclear:          CodeRefused,
	ReasonEgressAddress:          CodeRefused,
	ReasonEgressBusy:             CodeRateLimited,
	ReasonEgressUnreachable:      CodeUnavailable,
	ReasonEgressAsked:            CodeRefused,
	ReasonEgressClosed:           CodeRefused,
	ReasonEgressOver:             CodeConflict,
	ReasonEgressNobodyAsks:       CodeNotFound,
	ReasonEgressManyGrants:       CodeRefused,
	ReasonEgressHeld:             CodeRefused,
	ReasonEgressDigest:           CodeRefused,
	ReasonEffectHeld:             CodeConflict,
	ReasonEffectNone:             CodeNotFound,
	ReasonEffectApproved:         CodeConflict,
	ReasonEffectRefused:          CodeConflict,
	ReasonEffectAgain:            CodeConflict,
	ReasonEffectMoved:            CodeConflict,
	ReasonEgressNoGrant:          CodeNotFound,
	ReasonVaultNoEntry:           CodeNotFound,
	ReasonVaultUnreadable:        CodeUnavailable,
	ReasonVaultKeyShort:          CodeInvalid,
	ReasonCredentialNotForThis:   CodeRefused,
	ReasonGitNotNamed:            CodeRefused,
	ReasonGitNotARequest:         CodeRefused,
	ReasonGitUnauthorized:        CodeRefused,
	ReasonVaultNoneFor:           CodeRefused,
	ReasonGitMoved:               CodeRefused,
	ReasonGitEncoded:             CodeRefused,
	ReasonGitAddress:             CodeInvalid,
	ReasonGitCloneFailed:         CodeUnavailable,
	ReasonMakingComputers:        CodeBusy,
	ReasonNameBeingMade:          CodeConflict,
	ReasonNameTaken:              CodeConflict,
	ReasonNameLength:             CodeInvalid,
	ReasonPhraseLength:           CodeInvalid,
	ReasonNameIsID:               CodeInvalid,
	ReasonImportUnderWay:         CodeBusy,
	ReasonDemoUnderWay:           CodeBusy,
	ReasonImportNoSpace:          CodeNoSpace,
	ReasonDiskFull:               CodeNoSpace,
	ReasonPathExists:             CodeConflict,
	ReasonPathVanished:           CodeConflict,
	ReasonPathChanged:            CodeConflict,
	ReasonPathMissing:            CodeNotFound,
	ReasonPathMissingThen:        CodeNotFound,
	ReasonPathOutside:            CodeInvalid,
	ReasonPathLength:             CodeInvalid,
	ReasonPathInGit:              CodeRefused,
	ReasonTargetTwice:            CodeInvalid,
	ReasonAlreadyThere:           CodeInvalid,
	ReasonIntoItself:             CodeInvalid,
	ReasonHoldsItself:            CodeInvalid,
	ReasonInTrash:                CodeInvalid,
	ReasonOneInsideOther:         CodeInvalid,
	ReasonNotInTrash:             CodeNotFound,
	ReasonNoTrashItem:            CodeInvalid,
	ReasonUploadTooLarge:         CodeTooLarge,
	ReasonTaskRunning:            CodeConflict,
	ReasonTooManyWindows:         CodeTooLarge,
	ReasonNoWindow:               CodeNotFound,
	ReasonNoRunHere:              CodeInvalid,
	ReasonTooManySettings:        CodeTooLarge,
	ReasonDraftTooLarge:          CodeTooLarge,
	ReasonDraftChanged:           CodeConflict,
	ReasonDraftsFull:             CodeTooLarge,
	ReasonNothingUnsaved:         CodeNotFound,
	ReasonNoDocumentThen:         CodeNotFound,
	ReasonDocumentExists:         CodeConflict,
	ReasonDocumentChanged:        CodeConflict,
	ReasonTitleBlank:             CodeInvalid,
	ReasonNoOverlay:              CodeNotFound,
	ReasonNotInLog:               CodeNotFound,
	ReasonSourceNotOlder:         CodeConflict,
	ReasonDesktopBudget:          CodeBudget,
	ReasonRunAtWork:              CodeConflict,
	ReasonNoSuchQuestion:         CodeConflict,
	ReasonRunEnded:               CodeConflict,
	ReasonNoRunToFollow:          CodeNotFound,
	ReasonRunNotEnded:            CodeConflict,
	ReasonUndoRunOpen:            CodeConflict,
	ReasonUndoNoFiles:            CodeConflict,
	ReasonUndoUnknown:            CodeNotFound,
	ReasonUndoCallOpen:           CodeConflict,
	ReasonUndoTaskOpen:           CodeConflict,
	ReasonUndoNeverBegan:         CodeConflict,
	ReasonTaskDoesNotStop:        CodeTimeout,
	ReasonRewindUnderWay:         CodeBusy,
	ReasonNoRewind:               CodeConflict,
	ReasonChangedOnBothSides:     CodeConflict,
	ReasonNoEvent:                CodeNotFound,
	ReasonNoSnapshotThen:         CodeNotFound,
	ReasonNoTerminalNow:          CodeConflict,
	ReasonTooManyTerminals:       CodeRateLimited,
	ReasonNoTerminal:             CodeNotFound,
	ReasonTypedTooFar:            CodeTooLarge,
	ReasonSandboxEnded:           CodeUnavailable,
	ReasonSandboxSilent:          CodeUnavailable,
	ReasonNoProject:              CodeNotFound,
	ReasonNotAProjectName:        CodeInvalid,
	ReasonNoProjectName:          CodeInvalid,
	ReasonNoWorkToExport:         CodeNotFound,
	ReasonUndoneNotCommitted:     CodeConflict,
	ReasonRepositoryBroken:       CodeConflict,
	ReasonNoModelKey:             CodeUnavailable,
	ReasonNoModel:                CodeUnavailable,
	ReasonNoModelFor:             CodeUnavailable,
	ReasonKeyRefused:             CodeRefused,
	ReasonKeyRefusedInForm:       CodeRefused,
	ReasonNoCredit:               CodeRefused,
	ReasonModelFailed:            CodeProvider,
	ReasonModelRefused:           CodeInvalid,
	ReasonModelNotThere:          CodeInvalid,
	ReasonModelOverloaded:        CodeOverloaded,
	ReasonModelUnreachable:       CodeUnavailable,
	ReasonModelUnreachableInForm: CodeUnavailable,
	ReasonModelSilent:            CodeTimeout,
	ReasonConnectUnderWay:        CodeBusy,
	ReasonRegionMissing:          CodeInvalid,
	ReasonKeyAgain:               CodeInvalid,
	ReasonKeyMissing:             CodeInvalid,
	ReasonKeyEmpty:               CodeInvalid,
	ReasonKeyTooLong:             CodeInvalid,
	ReasonKeyNotAlone:            CodeInvalid,
	ReasonNotAServiceName:        CodeInvalid,
	ReasonAddressNotHTTP:         CodeInvalid,
	ReasonAddressWithSecret:      CodeInvalid,
	ReasonAddressUnencrypted:     CodeInvalid,
	ReasonAddressForbidden:       CodeInvalid,
	ReasonPriceUnknown:           CodeInvalid,
	ReasonPriceUnknownTested:     CodeInvalid,
	ReasonServiceUnknown:         CodeNotFound,
	ReasonKeyFileMissing:         CodeNotFound,
	ReasonKeyFileOpen:            CodeRefused,
	ReasonKeyFileEmpty:           CodeUnavailable,
	ReasonStoreKeepsAll:          CodeUnavailable,
	ReasonBeingExported:          CodeBusy,
	ReasonWorkspaceToBecome:      CodeConflict,
	ReasonWorkspaceToRecord:      CodeConflict,
	ReasonImportLogDamaged:       CodeCorrupt,
	ReasonImportWorkspaceDiffers: CodeInvalid,
	ReasonImportOtherComputer:    CodeInvalid,
	ReasonImportBlobMissing:      CodeCorrupt,
	ReasonImportBlobSpare:        CodeInvalid,
	ReasonLogEndsElsewhere:       CodeCorrupt,
	ReasonNoSnapshotYet:          CodeNotFound,
	ReasonNoSharedPast:           CodeConflict,
	ReasonNothingChangedThere:    CodeNotFound,
	ReasonComputerClosed:         CodeUnavailable,
	ReasonFileOfNewerChoir:       CodeUnavailable,
	ReasonCheckpointLate:         CodeTimeout,
	ReasonGrantNoRun:             CodeNotFound,
	ReasonEventOfOther:           CodeNotFound,
	ReasonLogOfOther:             CodeConflict,
	ReasonMomentCollected:        CodeNotFound,
	ReasonProjectFolderThere:     CodeConflict,
	ReasonProjectNotTrashed:      CodeConflict,
	ReasonBeingCloned:            CodeBusy,
	ReasonGitFailed:              CodeConflict,
	ReasonGitSlow:                CodeTimeout,
	ReasonTooManyBroke:           CodeRateLimited,
	ReasonSourceAsShipped:        CodeConflict,
	ReasonNoFolder:               CodeNotFound,
	ReasonBrowserSlow:            CodeTimeout,
	ReasonMetricsToken:           CodeUnauthenticated,
	ReasonConnectionLost:         CodeUnavailable,
	ReasonServiceKeyStays:        CodeUnavailable,
	ReasonServiceChanged:         CodeUnavailable,
	ReasonVaultKeyChanged:        CodeUnavailable,
	ReasonComputerStops:          CodeUnavailable,
	ReasonNoSuchRoute:            CodeNotFound,
	ReasonNoServiceWorker:        CodeForbidden,
	ReasonPageOfOther:            CodeForbidden,
	ReasonPageLeadsOut:           CodeForbidden,
	ReasonPortNoAnswer:           CodeUnavailable,
	ReasonNotInBuild:             CodeUnavailable,
	ReasonChoirStopping:          CodeUnavailable,
	ReasonEgressModeGiven:        CodeConflict,
	ReasonEgressWithoutGiven:     CodeConflict,
	ReasonNoConfiguration:        CodeUnavailable,
	ReasonComputerHibernates:     CodeUnavailable,
	ReasonNoSuchModel:            CodeNotFound,
	ReasonNoVault:                CodeUnavailable,
	ReasonVaultBoundElsewhere:    CodeConflict,
	ReasonRecordLocks:            CodeUnavailable,
	ReasonDemoPlaying:            CodeConflict,
	ReasonDemoWouldReplace:       CodeConflict,
	ReasonSeatDown:               CodeUnavailable,
	ReasonSeatNoteDamaged:        CodeCorrupt,
	ReasonSeatOtherDriver:        CodeConflict,
	ReasonNotRunningHere:         CodeUnavailable,
	ReasonCookieNotKept:          CodeUnauthenticated,
	ReasonDesktopServerEnded:     CodeUnavailable,
	ReasonDesktopServerSlow:      CodeUnavailable,
	ReasonDesktopNoNode:          CodeUnavailable,
	ReasonExportChanged:          CodeCorrupt,
	ReasonArchiveListLarge:       CodeTooLarge,
	ReasonNotAnExport:            CodeInvalid,
	ReasonArchiveMemberLarge:     CodeTooLarge,
	ReasonTooDeep:                CodeTooLarge,
	ReasonEventMissing:           CodeCorrupt,
	ReasonLogEndsAt:              CodeCorrupt,
	ReasonEventOfNewerChoir:      CodeUnavailable,
	ReasonLogDamaged:             CodeCorrupt,
	ReasonLogReadOnly:            CodeUnavailable,
	ReasonRoleMayNotAppend:       CodeForbidden,
	ReasonAppendAnswering:        CodeBusy,
	ReasonAppendCollided:         CodeBusy,
	ReasonAppendFirstFailed:      CodeBusy,
	ReasonAppendQueueFull:        CodeBusy,
	ReasonEventUnreadable:        CodeCorrupt,
	ReasonLogClosedBefore:        CodeUnavailable,
	ReasonLogClosed:              CodeUnavailable,
	ReasonSQLiteOfNewer:          CodeUnavailable,
	ReasonSQLiteNotReplaced:      CodeUnavailable,
	ReasonJournalReading:         CodeUnavailable,
	ReasonJournalDamaged:         CodeCorrupt,
	ReasonJournalClosed:          CodeUnavailable,
	ReasonEventDamaged:           CodeCorrupt,
	ReasonLogPartRepaired:        CodeBusy,
	ReasonNoEventYet:             CodeNotFound,
	ReasonJournalDamagedPart:     CodeCorrupt,
	ReasonModelCallFailed:        CodeProvider,
	ReasonConversationLong:       CodeTooLarge,
	ReasonModelConnectionBroke:   CodeProvider,
	ReasonModelStreamCut:         CodeProvider,
	ReasonModelStreamMalformed:   CodeProvider,
	ReasonModelNothingFor:        CodeTimeout,
	ReasonModelRedirects:         CodeProvider,
	ReasonModelContentType:       CodeProvider,
	ReasonWorkspaceTooMuch:       CodeTooLarge,
	ReasonRemovedMoved:           CodeConflict,
	ReasonTreeKeptChanging:       CodeConflict,
	ReasonProgramNotInBuild:      CodeUnavailable,
	ReasonModelCallStopped:       CodeCancelled,
	ReasonModelCallLong:          CodeTimeout,
	ReasonImportShort:            CodeCorrupt,
	ReasonImportFirstHead:        CodeCorrupt,
	ReasonImportManifest:         CodeCorrupt,
	ReasonImportNoZeros:          CodeCorrupt,
	ReasonImportHead:             CodeCorrupt,
	ReasonImportContent:          CodeCorrupt,
	ReasonImportMore:             CodeCorrupt,
	ReasonExportListLarge:        CodeTooLarge,
	ReasonModelPriceUnknown:      CodeUnavailable,
	ReasonSQLiteDamaged:          CodeCorrupt,
	ReasonDesktopNotCarried:      CodeUnavailable,
	ReasonDraftsDiskFull:         CodeNoSpace,
	ReasonDraftsDamaged:          CodeCorrupt,
	ReasonPathNoFolder:           CodeConflict,
	ReasonPathNoFile:             CodeConflict,
	ReasonPathNoFolderThen:       CodeConflict,
	ReasonPathNoFileThen:         CodeConflict,
	ReasonPathTooLongToShow:      CodeTooLarge,
	ReasonPathThroughLink:        CodeRefused,
	ReasonWorkspaceSlow:          CodeTooLarge,
	ReasonLogDiskFull:            CodeNoSpace,
	ReasonSQLiteDamagedNow:       CodeCorrupt,
}
