//! What is read off the bytes of our own connections, with their instants: phases of exchanges, frames, and the settings in force. It sends nothing
//! and changes nothing that passes.

pub mod h1_stamps;
pub mod h2_frames;
pub mod h2_stamps;
pub mod settings_in_force;
pub mod tap;
