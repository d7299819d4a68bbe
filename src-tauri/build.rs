//! Embeds the built UI, the icons and the capabilities. Runs in the root of the repository.

fn main() {
    // A build needs the folder, even an empty one; the window then says how to build the UI.
    std::fs::create_dir_all("ui/dist").expect("ui/dist can be made");
    println!("cargo:rerun-if-changed=ui/dist");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    let attributes =
        tauri_build::Attributes::new().capabilities_path_pattern("./src-tauri/capabilities/**/*");
    tauri_build::try_build(attributes).expect("tauri.conf.json and the capabilities fit together");
    // Schemas for editors; what counts is in OUT_DIR.
    let _absent = std::fs::remove_dir_all("gen");
}
