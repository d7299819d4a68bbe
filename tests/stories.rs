//! Stories across the crates: real sockets, real files, real processes. One binary, one file per subject.
#![expect(clippy::unwrap_used, reason = "a story that can't go on has failed")]

mod stories {
    mod answered;
    mod api;
    mod api_list;
    mod api_live;
    mod api_manage;
    mod api_page;
    mod apis;
    mod audit;
    mod backup;
    mod backup_sync;
    mod backup_sync_cli;
    mod backup_sync_providers;
    mod bad_input;
    mod capture;
    mod capture_answer;
    mod capture_whole;
    mod capture_wire;
    mod circles;
    mod cli;
    mod cli_exits;
    mod cli_output;
    mod clock_edges;
    mod clocks;
    mod clocks_relay;
    mod confirm;
    mod damaged;
    mod dedupe;
    mod dedupe_judged;
    mod dedupe_order;
    mod delete;
    mod delivery;
    mod delivery_one;
    mod detour_channel;
    mod detours;
    #[cfg(unix)]
    mod doctor;
    mod durability;
    mod earlier;
    mod earlier_killed;
    mod explanation;
    mod exported_files;
    mod faults;
    mod fixtures;
    mod foreign_lock;
    mod full_disk;
    mod glance;
    mod glance_live;
    mod golden;
    #[cfg(target_os = "linux")]
    mod handles;
    mod handshake_rows;
    mod handshakes;
    mod head_requests;
    mod inbox_maker;
    mod indexing;
    mod jobs;
    mod keeping;
    mod keychain;
    mod layers;
    mod limits;
    mod limits_port;
    mod limits_room;
    mod listen;
    mod listen_public;
    #[cfg(target_os = "linux")] // reads memory in /proc
    mod memory;
    mod named;
    mod order;
    mod own_scheme;
    mod packing;
    mod pages;
    #[cfg(target_os = "linux")] // lists processes in /proc
    mod planted;
    mod provider_found;
    mod providers;
    mod readme;
    mod refusals;
    mod relay;
    mod relay_acme;
    mod relay_beside;
    mod relay_deploy;
    mod relay_hello;
    mod relay_hostile;
    mod relay_limits;
    mod relay_memory;
    #[cfg(target_os = "linux")] // gives senders addresses of their own
    mod relay_proxies;
    #[cfg(target_os = "linux")]
    mod relay_proxies_change;
    mod relay_server;
    mod relay_shared;
    mod relay_tls;
    mod replay;
    mod replay_cli;
    mod resign;
    mod respond;
    mod respond_relay;
    #[cfg(unix)]
    mod retention;
    mod scripts;
    mod searches;
    mod second_try;
    mod send;
    mod source_params;
    mod stats;
    mod syncs;
    mod takeover;
    mod target_states;
    mod targets;
    mod test_keys;
    mod threat_11;
    mod threat_11_exports;
    mod threat_11_places;
    mod threat_11_secrets;
    mod threats;
    mod threats_api;
    #[cfg(target_os = "linux")] // lists processes in /proc
    mod threats_browser;
    mod threats_host;
    mod threats_loops;
    mod threats_proof;
    mod threats_single_use;
    mod threats_trust;
    mod threats_wire;
    mod trash;
    mod tunnel;
    mod tunnel_announce;
    mod tunnel_away;
    mod tunnel_chaos;
    mod tunnel_cli;
    mod tunnel_devices;
    mod tunnel_gaps;
    mod tunnel_order;
    mod tunnel_owner;
    mod tunnel_sources;
    mod verify;
    mod wait;
    #[cfg(target_os = "linux")]
    mod window;
    #[cfg(target_os = "linux")]
    mod window_deb;
    #[cfg(target_os = "linux")]
    mod window_page;
    #[cfg(target_os = "linux")]
    mod window_shell;
    #[cfg(target_os = "linux")]
    mod window_tray;
}
